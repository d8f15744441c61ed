"""Attention on source tokens, for every layout and every family of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_alignments as reference
from exact_models import VOCAB, batch_of, random_sources
from lstm_model import ToyLstm, ToyLstmHParams
from mostly_slow import mostly_slow
from random_weights import randomize
from small_phrase_models import (
    GRANULARITIES,
    KINDS,
    LEVELS_OF_TREES,
    MIXED,
    PARSED,
    REPRESENTATIONS,
    SMALL,
)

from t2t_phrase import registry
from t2t_phrase.compile import compiled
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.aligning import POSITION
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.decoding.search.source_attention import (
    source_attention,
    strongest,
    token_weights,
)
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.layers.attention.layout import Layout, Units
from t2t_phrase.models.ensemble import Ensemble

ONE, TWO, THREE = map(Units, (1, 2, 3))
PHRASES = Units(partition="phrases")
LAYOUTS = {
    "tokens": Layout(4),
    "without heads": Layout(0),
    "heterogeneous": Layout(4, columns=(ONE, TWO, THREE)),
    "interleaved": Layout(4, (ONE, TWO), (ONE, TWO)),
    "homogeneous": Layout(4, columns_by_head=(ONE, THREE, THREE, TWO), reaches_back=True),
    "segments": Layout(4, columns=(PHRASES,)),
    "segments beside tokens": Layout(4, columns_by_head=(ONE, PHRASES, PHRASES, ONE)),
}
# A sentence of five tokens in three segments, and one of two tokens in one.
PARTITION = np.array(
    [
        [[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 1]],
        [[1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]],
    ],
    bool,
)
NUMBERS = {
    "phrases": lambda length: sorted(i // 2 + 1 for i in range(length)),
    "levels": lambda length: [1, *[1 + i % 3 for i in range(1, length)]],
}
SEARCH = DecodeHParams(
    beam_size=3, max_length=6, extra_length=4, return_beams=True, write_alignments=True
)


@pytest.mark.parametrize("heads", [(), (2,), (3, 1)], ids=str)
@pytest.mark.parametrize("name", LAYOUTS)
def test_weights_are_spread_over_tokens(name: str, heads: tuple[int, ...]) -> None:
    layout, rows, length = LAYOUTS[name], 3, PARTITION.shape[-1]
    if heads and not layout.num_heads:
        return
    width = PARTITION.shape[1] if name == "segments" else length * len(layout.columns)
    shape = (2, layout.num_heads, rows * len(layout.rows), width)
    weights = np.random.default_rng(0).random(shape if layout.num_heads else shape[:1] + shape[2:])
    if name == "segments beside tokens":
        weights[:, 1:3, :, PARTITION.shape[1] :] = 0
    weights = weights.astype("float32")
    partitions = {"phrases": PARTITION}
    expected = reference.of_layer(weights, layout, partitions, length, heads)
    found = token_weights(weights, layout, partitions, heads=[head - 1 for head in heads])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_all_weight_stays_within_the_sentence() -> None:
    layout = LAYOUTS["homogeneous"]
    weights = np.random.default_rng(0).random((2, 4, 3, 5)).astype("float32")
    found = np.asarray(token_weights(weights, layout, {}))
    np.testing.assert_allclose(found.sum(axis=-1), weights.sum(axis=(1, 3)), rtol=1e-5)


def test_the_first_of_equal_weights_is_the_strongest() -> None:
    assert np.asarray(strongest(np.array([[[0.1, 0.4, 0.4], [0, 0, 0]]]))).tolist() == [[1, 0]]


def made(hparams: Any) -> Any:
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, deviation=0.4)
    return model


def toy() -> Any:
    model = ToyLstm.from_hparams(ToyLstmHParams(), vocab_size=VOCAB)
    randomize(model, deviation=0.4)
    return model


FAMILIES: dict[str, Callable[[], Any]] = {
    "relative": lambda: made(SMALL.replace(max_relative_position=2, num_hidden_layers=2)),
    "lstm": toy,
    "granularities": lambda: made(GRANULARITIES),
    "levels of trees": lambda: made(LEVELS_OF_TREES),
    "parsed phrases": lambda: made(PARSED),
    "interleaved": lambda: made(KINDS["interleaved_queryk"]),
    "homogeneous": lambda: made(KINDS["homogeneous_convkv"]),
    **{name: lambda h=h: made(h) for name, h in {**MIXED, **REPRESENTATIONS}.items()},
    "ensemble": lambda: Ensemble([made(REPRESENTATIONS["representation"]), toy(), made(PARSED)]),
}


@pytest.mark.parametrize(
    "name", mostly_slow(FAMILIES, "lstm", "levels of trees", "mixed_with_distances", "ensemble")
)
def test_every_step_looks_where_the_whole_does(name: str) -> None:
    registry.discover()
    model = FAMILIES[name]()
    sources, targets = random_sources([7, 2]), np.array([[5, 3, 9, 4], [8, 8, 6, 1]], "int32")
    numbers = {feature.name: NUMBERS[feature.name] for feature in model.hparams.features}
    features = {**batch_of(sources, [[1], [1]], numbers, extra=1), "targets": targets}
    partitions = model.partitions(features)
    expected = reference.source_weights(
        model.attention_weights(features),
        model.attention_maps(),
        {key: np.asarray(value) for key, value in partitions.items()},
        length=8,
    )
    attention = source_attention(model)
    whole = attention.accumulate(model.attention_weights(features), partitions)
    np.testing.assert_allclose(whole, expected, atol=1e-5)
    assert not expected[0, :, 7:].any() and not expected[1, :, 2:].any()
    memory, beams = model.prepare_memory(features), 2
    cache, last = model.start_cache(memory, beams, 3), np.zeros((2, beams), "int32")
    for time in range(3):
        _, cache, weights = model.step(last, time, memory, cache)
        found = np.asarray(attention.accumulate(weights, partitions))
        for beam in range(beams):
            np.testing.assert_allclose(found[:, beam], expected[:, time], atol=1e-5)
        last = np.repeat(targets[:, time, None], beams, axis=1)


@pytest.mark.parametrize("options", [{"beam_size": 3}, {"sampling_temp": 1.0}], ids=str)
def test_searches_note_the_strongest_position_of_every_token(options: Any) -> None:
    registry.discover()
    model = toy()
    sources = random_sources([7, 2, 4])
    given = {"inputs": batch_of(sources, [[1]] * 3, {}, extra=1)["inputs"]}
    search = SEARCH.replace(**options)
    found = compiled(lambda features: translate_ids(model, features, search), xla=False)(given)
    ids, positions = np.asarray(found.ids), np.asarray(found.notes[POSITION])
    for beam in range(ids.shape[1]):
        weights = model.attention_weights({**given, "targets": ids[:, beam]})
        expected = reference.source_weights(weights, model.attention_maps(), {}, length=8)
        for row, tokens in enumerate(ids[:, beam].tolist()):
            limit = min(6, len(sources[row]) + 4)
            length = tokens.index(1) + 1 if 1 in tokens else limit
            for time in range(length):
                own = expected[row, time]
                assert own[positions[row, beam, time]] == pytest.approx(own.max(), abs=1e-5)
            assert not positions[row, beam, length:].any()
    assert len({*positions.ravel().tolist()}) > 1


def test_layers_and_heads_are_chosen() -> None:
    registry.discover()
    model = made(SMALL.replace(num_hidden_layers=3))
    features = batch_of(random_sources([7, 2]), [[4, 5, 1], [3, 1]], {})
    weights, maps = model.attention_weights(features), model.attention_maps()
    for layers, heads in [((), ()), ((2,), ()), ((3, 1), (4,)), ((), (2, 3))]:
        expected = reference.source_weights(weights, maps, {}, length=7, layers=layers, heads=heads)
        attention = source_attention(model, layers=layers, heads=heads)
        np.testing.assert_allclose(attention.accumulate(weights, {}), expected, rtol=1e-5)


def test_layers_of_an_ensemble_are_numbered_across_its_members() -> None:
    """The second member attends to the source's tokens and segments, in two layers each."""
    registry.discover()
    first = made(SMALL.replace(num_hidden_layers=2))
    second = made(REPRESENTATIONS["representation"].replace(num_hidden_layers=2))
    names = [
        [(name, place) for name, place, _ in source_attention(model, layers=layers).layers]
        for model, layers in ((second, ()), (Ensemble([first, second]), (3, 4)))
    ]
    shift = {"cross": 2}
    assert names[1] == [(name, place + shift.get(name, 0)) for name, place in names[0]]
    assert len(names[0]) == 4


@pytest.mark.slow
def test_alignments_are_those_of_eager_xla_and_alone() -> None:
    registry.discover()
    model = toy()
    given = {"inputs": batch_of(random_sources([7, 2, 4]), [[1]] * 3, {}, extra=2)["inputs"]}

    def run(features: Any) -> Any:
        return translate_ids(model, features, SEARCH)

    graph = compiled(run, xla=False)(given)
    under_xla, alone = compiled(run, xla=True)(given), run({"inputs": given["inputs"][1:2, :2]})
    positions = np.asarray(graph.notes[POSITION])
    np.testing.assert_array_equal(positions, under_xla.notes[POSITION])
    length = np.asarray(alone.ids).shape[2]
    np.testing.assert_array_equal(positions[1, :, :length], alone.notes[POSITION][0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": (2,)}, r"alignment_layers=\[2\]: there is no 2; the model has 1 layer,"),
        ({"heads": (1, 9)}, r"alignment_heads=\[1, 9\]: there is no 9; the model has 4 heads"),
    ],
)
def test_what_does_not_exist_is_refused(options: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        source_attention(made(SMALL), **options)


def test_an_expansion_that_notes_no_positions_is_refused() -> None:
    def silent(decoder: Any, features: Any, hparams: Any) -> Any:
        return plain_expansion(decoder)._replace(notes={})

    given = {"inputs": np.array([[5, 1]], "int32")}
    with pytest.raises(UserError, match="does not record position for tokens"):
        translate_ids(toy(), given, SEARCH, make_expansion=silent)


def test_a_model_without_attention_is_refused() -> None:
    class Blind(ToyLstm):
        def attention_maps(self) -> Any:
            return {}

    with pytest.raises(UserError, match="Blind exposes no attention from target to source"):
        source_attention(Blind(ToyLstmHParams(), VOCAB))
