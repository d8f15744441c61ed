"""Models with phrase attention of every kind: exactness, sizes, and what is refused."""

from __future__ import annotations

import functools
import importlib.util
import pathlib
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from mostly_slow import mostly_slow
from small_phrase_models import KINDS, MIXED, SMALL
from under_backend import assert_same_under, gradients_of

from t2t_phrase import registry
from t2t_phrase.compile import compiled, traced
from t2t_phrase.config import HParamsError
from t2t_phrase.corpus_sizes import SIZES
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.phrase_transformer import (
    PhraseHParams,
    PhraseTransformer,
    with_phrase_attention,
)
from t2t_phrase.models.transformer import Transformer

VOCAB = 19
# Sentences of 1, 3 and 9 tokens: phrases of 2 or 3 are absent from the first.
SOURCES = [[1], [5, 6, 1], [*range(2, 10), 1]]
TARGETS = [[7, 8, 9, 3, 1], [1], [9, 4, 1]]


def padded(rows: list[list[int]], extra: int = 0) -> np.ndarray:
    width = max(map(len, rows)) + extra
    return np.array([[*row, *[0] * (width - len(row))] for row in rows], "int32")


FEATURES = {"inputs": padded(SOURCES), "targets": padded(TARGETS)}


@functools.cache
def model_of(name: str) -> PhraseTransformer:
    model = PhraseTransformer.from_hparams({**KINDS, **MIXED}[name], vocab_size=VOCAB)
    rng = np.random.default_rng(len(name))
    for variable in model.trainable_variables:
        variable.assign(variable + 0.2 * rng.normal(size=variable.shape))
    return model


@pytest.mark.parametrize("name", mostly_slow([*KINDS, *MIXED], *MIXED))
def test_a_sentence_has_the_same_logits_alone_and_with_more_padding(name: str) -> None:
    model = model_of(name)
    together = np.asarray(model({"inputs": padded(SOURCES, 3), "targets": padded(TARGETS, 2)}))
    for i, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = model({"inputs": np.array([source]), "targets": np.array([target])})
        np.testing.assert_allclose(together[i, : len(target)], alone[0], atol=1e-5)


@pytest.mark.parametrize("name", [*KINDS, *MIXED])
def test_nothing_flows_from_the_future(name: str) -> None:
    model = model_of(name)
    logits = np.asarray(model(FEATURES))
    for position in (1, 3):
        targets = FEATURES["targets"].copy()
        targets[0, position:] = 1 + (targets[0, position:] + 3) % 17
        moved = np.asarray(model({**FEATURES, "targets": targets}))
        np.testing.assert_array_equal(moved[0, : position + 1], logits[0, : position + 1])
        assert np.abs(moved[0, position + 1] - logits[0, position + 1]).max() > 1e-4


# The mixed ones hold all kinds.
@pytest.mark.parametrize("name", mostly_slow([*KINDS, *MIXED], *MIXED))
def test_step_by_step_equals_the_whole_with_beams_that_branch(name: str) -> None:
    model, beam_size, length = model_of(name), 3, 5
    rng = np.random.default_rng(0)
    memory = model.prepare_memory(FEATURES)
    cache = model.start_cache(memory, beam_size, length)
    histories = np.zeros((3, beam_size, 0), "int32")
    last = np.zeros((3, beam_size), "int32")
    inputs = np.repeat(FEATURES["inputs"], beam_size, axis=0)
    for time in range(length):
        logits, cache, _ = model.step(last, time, memory, cache)
        targets = np.pad(histories, [(0, 0), (0, 0), (0, 1)], constant_values=1)
        whole = model({"inputs": inputs, "targets": targets.reshape(-1, time + 1)})
        np.testing.assert_allclose(np.reshape(logits, (-1, VOCAB)), whole[:, -1], atol=1e-5)
        parents = rng.integers(beam_size, size=(3, beam_size)).astype("int32")
        cache = model.reorder(cache, parents)
        last = rng.integers(1, VOCAB, size=(3, beam_size)).astype("int32")
        histories = np.take_along_axis(histories, parents[..., None], axis=1)
        histories = np.concatenate([histories, last[..., None]], axis=2)


@pytest.mark.parametrize("name", mostly_slow(MIXED, "mixed_with_distances"))
def test_a_sentence_has_the_same_translation_alone_and_in_a_batch(name: str) -> None:
    model = model_of(name)
    hparams = DecodeHParams(beam_size=3, extra_length=3, max_length=8, return_beams=True)
    together = compiled(lambda inputs: translate_ids(model, {"inputs": inputs}, hparams))(
        FEATURES["inputs"]
    )
    for i, source in enumerate(SOURCES):
        alone = translate_ids(model, {"inputs": np.array([source], "int32")}, hparams)
        length = min(len(source) + 3, 8)
        np.testing.assert_array_equal(together.ids[i, :, :length], alone.ids[0])
        np.testing.assert_allclose(together.scores[i], alone.scores[0], atol=1e-4)


@pytest.mark.slow
def test_a_single_sentence_is_translated_in_a_graph_whose_history_grows() -> None:
    """Distances once hid the number of sentences, which the loop knows to be one."""
    model = model_of("mixed_with_distances")
    hparams = DecodeHParams(beam_size=2, max_length=4)
    inputs = np.array([SOURCES[2]], "int32")

    def run(inputs: Any, growing: bool = False) -> Any:
        return translate_ids(model, {"inputs": inputs}, hparams, growing=growing)

    found = compiled(run, xla=False)(inputs, growing=True)
    np.testing.assert_array_equal(found.ids, run(inputs).ids)


@pytest.mark.parametrize(
    "name", [pytest.param("mixed", marks=pytest.mark.slow), "mixed_with_distances"]
)
def test_graph_and_xla_equal_eager(name: str) -> None:
    def run(inputs: Any, targets: Any) -> list[Any]:
        batch = {"inputs": inputs, "targets": targets}
        return [model_of(name)(batch), *gradients_of(model_of(name), batch)]

    eager = run(**FEATURES)
    for xla in (False, True):
        for actual, expected in zip(compiled(run, xla=xla)(**FEATURES), eager, strict=True):
            scale = max(1, np.abs(expected).max())
            np.testing.assert_allclose(actual / scale, expected / scale, atol=1e-5)


@pytest.mark.slow
def test_searches_of_unknown_shape_and_under_xla_equal_those_in_a_graph() -> None:
    model = model_of("mixed")
    options = DecodeHParams(beam_size=3, max_length=6, extra_length=4)

    def run(inputs: Any) -> Any:
        return translate_ids(model, {"inputs": inputs}, options)

    unknown = traced(run, input_signature=[tf.TensorSpec((None, None), tf.int32)])
    graph = compiled(run, xla=False)(FEATURES["inputs"])
    for other in (unknown(FEATURES["inputs"]), compiled(run, xla=True)(FEATURES["inputs"])):
        np.testing.assert_array_equal(graph.ids, other.ids)
        np.testing.assert_allclose(graph.scores, other.scores, atol=1e-4)


@pytest.mark.parametrize("name", mostly_slow(MIXED, "mixed_with_distances"))
def test_mixed_precision_keeps_float32_variables_and_comes_close(name: str) -> None:
    model = model_of(name)
    hparams = model.hparams.replace(dtype_policy="mixed_bfloat16")
    mixed = PhraseTransformer.from_hparams(hparams, vocab_size=VOCAB)
    mixed.set_weights(model.get_weights())
    assert {v.dtype for v in mixed.trainable_variables} == {"float32"}
    expected, actual = np.asarray(model(FEATURES)), np.asarray(mixed(FEATURES))
    assert np.abs(actual - expected).max() < 0.08 * np.abs(expected).max()
    found = translate_ids(
        mixed,
        {"inputs": FEATURES["inputs"]},
        DecodeHParams(beam_size=2, extra_length=1, return_beams=True),
    )
    assert np.isfinite(found.scores[:, 0]).all()


def test_weights_survive_a_file(tmp_path: pathlib.Path) -> None:
    model = model_of("mixed_with_distances")
    model.save_weights(tmp_path / "model.weights.h5")
    other = PhraseTransformer.from_hparams(model.hparams, vocab_size=VOCAB)
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other(FEATURES), model(FEATURES))


def test_without_phrases_it_is_the_transformer() -> None:
    hparams = with_phrase_attention(SMALL, "none")
    model = PhraseTransformer.from_hparams(hparams, vocab_size=VOCAB)
    plain = Transformer.from_hparams(SMALL, vocab_size=VOCAB)
    plain.set_weights(model.get_weights())
    np.testing.assert_array_equal(model(FEATURES), plain(FEATURES))


def test_only_the_encoder_looks_ahead_and_cross_attention_knows_no_distance() -> None:
    hparams = KINDS["interleaved_queryk"].replace(max_relative_position=3)
    model = PhraseTransformer.from_hparams(hparams, vocab_size=VOCAB)
    encoder = model.encoder_layers[0].self_attention
    decoder = model.decoder_layers[0]
    assert encoder.look_ahead
    assert not decoder.self_attention.look_ahead
    assert not decoder.cross_attention.look_ahead
    assert encoder.distances is not None
    assert decoder.self_attention.distances is not None
    assert decoder.cross_attention.distances is None


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_jax_equals_tensorflow(tmp_path: pathlib.Path) -> None:
    models = {name: model_of(name) for name in ["mixed_with_distances"]}
    assert_same_under(
        models, FEATURES, DecodeHParams(beam_size=3, max_length=6, extra_length=4), tmp_path
    )


def test_phrase_sets_differ_from_their_size_in_the_attention_only() -> None:
    registry.discover()
    made = {name: registry.hparams[name]() for name in registry.hparams}
    names = [name for name, hparams in made.items() if type(hparams) is PhraseHParams]
    by_corpus = {f"_{size.name}" for size in SIZES}
    for name in [name for name in names if name.endswith(tuple(by_corpus))]:
        expected = vars(registry.hparams[f"transformer_{name.rsplit('_', 1)[-1]}"]())
        assert {field: getattr(made[name], field) for field in expected} == expected
        names.remove(name)
    assert len(names) >= 36
    for name in names:
        suffix = name.rsplit("_", 1)[-1]
        base = {
            "post": "transformer_multi30k_post",
            "multi30k": "transformer_multi30k",
            "demo": "transformer_demo",
            "muon": "transformer_demo_muon",
            "big": "transformer_big",
        }.get(suffix, "transformer_base_paper")
        expected = registry.hparams[base]()
        if suffix == "4l":
            expected = expected.replace(num_hidden_layers=4)
        actual = registry.hparams[name]()
        assert {field: getattr(actual, field) for field in vars(expected)} == vars(expected)
        structure, method = name.split("_")[1:3]
        kind = f"{structure}_{method}"
        assert (actual.encoder_attention, actual.decoder_attention) == (kind, kind)
        assert actual.cross_attention == kind
        numbers = tuple(int(part) for part in name.split("_")[3:] if part.isdigit())
        if structure == "homogeneous":
            assert actual.phrase_head_counts == numbers
            assert actual.phrase_orders == tuple(range(1, len(numbers) + 1))
        else:
            assert actual.phrase_orders == numbers


def test_fields_of_each_position_are_set_by_name() -> None:
    hparams = PhraseHParams().override(
        "encoder_attention=homogeneous_queryk,encoder_orders=[1,3],encoder_head_counts=[6,2],"
        "cross_attention=none,decoder_attention=interleaved_convkv"
    )
    model = PhraseTransformer(hparams, VOCAB)
    encoder = model.make_attention("encoder", "self_attention")
    assert (encoder.orders, encoder.head_counts) == ((1, 3), (6, 2))
    assert model.make_attention("decoder", "self_attention").orders == (1, 2)
    assert type(model.make_attention("cross", "cross_attention")).__name__ == "MultiHeadAttention"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phrase_orders": (0, 1)}, r"phrase_orders: must be strictly .* at least 1, got \[0, 1\]"),
        ({"phrase_orders": (2, 1)}, r"phrase_orders: must be strictly ascending"),
        ({"decoder_orders": (1, 1)}, r"decoder_orders: must be strictly ascending"),
        (
            {"cross_orders": (1, 9), "max_length": 8},
            "cross_orders: no sentence of max_length=8 tokens holds a phrase of 9",
        ),
        (
            {"encoder_attention": "homogeneous_convkv", "phrase_head_counts": (3, 4)},
            r"phrase_head_counts: \[3, 4\] must add up to num_heads=8",
        ),
        (
            {"encoder_attention": "homogeneous_convkv"},
            r"encoder_attention=homogeneous_convkv needs at least one head for each of the orders "
            r"\[1, 2\], got \[\]",
        ),
        (
            {"encoder_attention": "homogeneous_convkv", "encoder_head_counts": (8, 0)},
            r"encoder_head_counts: .* got \[8, 0\]",
        ),
        ({"cross_head_counts": (4, 4)}, "cross_head_counts: only homogeneous"),
        ({"phrase_head_counts": (4, 4)}, "phrase_head_counts: only homogeneous"),
        (
            {"cross_attention": "none", "cross_orders": (1, 2)},
            "cross_orders: is not used with cross_attention=none",
        ),
        (
            {
                **dict.fromkeys(("encoder_attention", "decoder_attention"), "none"),
                "cross_attention": "none",
                "phrase_orders": (1, 2, 3),
            },
            r"phrase_orders=\[1, 2, 3\]: is not used, since encoder_attention, decoder_attention",
        ),
        (
            {
                **dict.fromkeys(("encoder_orders", "decoder_orders", "cross_orders"), (1, 2)),
                "phrase_orders": (1, 2, 3),
            },
            r"phrase_orders=\[1, 2, 3\]: is not used, .* none or have their own orders",
        ),
        (
            {
                **dict.fromkeys(
                    ("encoder_attention", "decoder_attention", "cross_attention"),
                    "homogeneous_convkv",
                ),
                **dict.fromkeys(
                    ("encoder_head_counts", "decoder_head_counts", "cross_head_counts"), (4, 4)
                ),
                "phrase_head_counts": (2, 6),
            },
            r"phrase_head_counts=\[2, 6\]: is not used, since each homogeneous attention has",
        ),
        (
            {
                "encoder_attention": "heterogeneous_convkv",
                "cross_attention": "homogeneous_convkv",
                "cross_head_counts": (4, 4),
                "phrase_head_counts": (99,),
            },
            r"phrase_head_counts=\[99\]: is not used, since each homogeneous attention has",
        ),
        (
            {
                "cross_attention": "homogeneous_convkv",
                "phrase_orders": (),
                "phrase_head_counts": (),
            },
            r"needs at least one head for each of the orders \[\], got \[\]",
        ),
        ({"share_key_projection": False}, "share_key_projection=False: only heterogeneous_queryk"),
        ({"decoder_attention": "queryk"}, "decoder_attention: attention 'queryk' is unknown; "),
    ],
)
def test_combinations_without_meaning_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(HParamsError, match=message):
        PhraseHParams().replace(**changes)


def test_plain_and_phrase_options_are_not_confused() -> None:
    with pytest.raises(HParamsError, match="PhraseHParams; use model phrase_transformer"):
        Transformer.from_hparams(PhraseHParams(), vocab_size=VOCAB)
    with pytest.raises(HParamsError, match="TransformerHParams; use model transformer"):
        PhraseTransformer.from_hparams(SMALL, vocab_size=VOCAB)


def test_an_attention_that_knows_no_positions_cannot_be_packed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Blind:
        options = ()

        def call(self, query: Any, memory: Any, attention_mask: Any = None) -> Any:
            raise NotImplementedError

    monkeypatch.setitem(registry.attentions._entries, "blind", Blind)
    with pytest.raises(HParamsError, match="packed_length=256: cross_attention=blind takes no"):
        PhraseHParams(cross_attention="blind", packed_length=256)
