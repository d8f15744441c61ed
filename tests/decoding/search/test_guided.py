"""Dictionary-guided decoding against a search with Python lists."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
import reference_beam_search
import reference_dictionary as reference
from exact_models import VOCAB, batch_of, random_sources
from keras import ops
from lstm_model import ToyLstm, ToyLstmHParams
from random_weights import randomize
from table_model import TableModel, as_lists, assert_same, random_table

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search import prefix
from t2t_phrase.decoding.search.aligning import POSITION
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses, beam_search
from t2t_phrase.decoding.search.guided import ENTRY, STARTS, TOKENS, Entries, guided_decoder
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.decoding.search.restrictions import RANKS
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.base import Step

PLACES = 5
# Two entries of one and three tokens; one that begins at two positions; none.
STARTS_OF = np.array([[0, 1, 0, 2, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], "int32")
TOKENS_OF = np.array(
    [[[3, 0, 0], [2, 2, 4]], [[4, 5, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]], "int32"
)


def position_of(prefix: tuple[int, ...]) -> int:
    """Every prefix looks somewhere, at each position about equally often."""
    last = prefix[-1] if prefix else 0
    return (3 * len(prefix) + 2 * last + 1) % PLACES


def looking(decoder: BatchDecoder, batch_size: int, beam_size: int) -> BatchDecoder:
    """Return a decoder that notes `position_of` the prefix."""

    def step(ids: Any, index: Any, cache: Any) -> Step:
        logits, inner, weights = decoder.step(ids, index, cache["decoder"])
        position = ops.cast(ops.mod(3 * index + 2 * ids + 1, PLACES), "int32")
        return Step(logits, {"decoder": inner, POSITION: position}, weights)

    def reorder(cache: Any, parents: Any) -> Any:
        return {**cache, "decoder": decoder.reorder(cache["decoder"], parents)}

    start = {"decoder": decoder.cache, POSITION: ops.zeros((batch_size, beam_size), "int32")}
    return BatchDecoder(
        step, start, reorder, lambda cache: {POSITION: cache[POSITION]}, {POSITION: 0}
    )


def search(
    table: np.ndarray, starts: np.ndarray, tokens: np.ndarray, beam_size: int, **options: Any
) -> Hypotheses:
    batch, length = table.shape[:2]
    decoder = looking(TableModel(table).decoder(beam_size), batch, beam_size)
    guided = guided_decoder(decoder, Entries(starts, tokens), beam_size)
    return beam_search(
        plain_expansion(guided, **options),
        max_lengths=np.full(batch, length, "int32"),
        length=length,
        beam_size=beam_size,
        alpha=0.6,
    )


@pytest.mark.parametrize(
    ("seed", "beam_size", "min_length"), [(0, 1, 0), (0, 2, 4), (1, 4, 0), (2, 3, 0)]
)
def test_hypotheses_scores_and_entries_are_those_of_the_definition(
    seed: int, beam_size: int, min_length: int
) -> None:
    length = 7
    table = random_table(seed, batch=3, length=length, vocab=6, eos=0.5)
    found = search(table, STARTS_OF, TOKENS_OF, beam_size, min_length=min_length)
    for sentence in range(3):
        starts = STARTS_OF[sentence].tolist()
        entries = {
            number: [token for token in tokens if token]
            for number, tokens in enumerate(TOKENS_OF[sentence].tolist(), start=1)
        }
        log_probs = functools.partial(
            reference_beam_search.without_early_end,
            TableModel(table).log_probs(sentence),
            min_length=min_length,
        )
        expected = reference_beam_search.search(
            reference.guided(log_probs, position_of, starts, entries),
            max_length=length,
            beam_size=beam_size,
            alpha=0.6,
        )
        actual = as_lists(found, sentence)
        assert_same(actual[: len(expected)], expected)
        begun = np.asarray(found.notes[ENTRY])[sentence]
        for beam, (ids, _) in enumerate(expected):
            own = [
                reference.forced_token(ids[:end], position_of, starts, entries)[1]
                for end in range(len(ids))
            ]
            assert begun[beam].tolist() == [*own, *[0] * (length - len(ids))]
    assert np.asarray(found.notes[ENTRY])[:2].any(axis=(1, 2)).all()
    assert not np.asarray(found.notes[ENTRY])[2].any()


def test_without_entries_the_search_is_the_plain_one() -> None:
    table = random_table(2, batch=2, length=6, vocab=6)
    nothing = np.zeros((2, PLACES), "int32"), np.zeros((2, 1, 1), "int32")
    found = search(table, *nothing, beam_size=3)
    plain = TableModel(table).search(
        beam_size=3, max_lengths=np.array([6, 6], "int32"), length=6, alpha=0.6
    )
    np.testing.assert_array_equal(found.ids, plain.ids)
    np.testing.assert_allclose(found.scores, plain.scores, atol=1e-5)


SOURCES = random_sources([7, 2, 4])
FEATURES = {
    "inputs": batch_of(SOURCES, [[1]] * 3, {}, extra=1)["inputs"],
    STARTS: np.array([[1] * 4 + [2] * 4, [1] * 8, [0] * 8], "int32"),
    TOKENS: np.array([[[3, 0], [2, 4]], [[5, 6], [0, 0]], [[0, 0], [0, 0]]], "int32"),
}


@pytest.fixture(scope="module")
def model() -> ToyLstm:
    model = ToyLstm.from_hparams(ToyLstmHParams(), vocab_size=VOCAB)
    randomize(model, deviation=0.5)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("xla", [False, True])
def test_compiled_and_alone_equal_eager(model: ToyLstm, xla: bool) -> None:
    options = DecodeHParams(beam_size=3, max_length=6, return_beams=True)

    def run(features: Any) -> Any:
        return translate_ids(model, features, options)

    eager = run(FEATURES)
    alone = run({"inputs": SOURCES_ALONE, **{n: FEATURES[n][1:2] for n in (STARTS, TOKENS)}})
    assert np.asarray(eager.notes[ENTRY])[:2].any(axis=(1, 2)).all()
    found = compiled(run, xla=xla)(FEATURES)
    np.testing.assert_array_equal(found.ids, eager.ids)
    np.testing.assert_allclose(found.scores, eager.scores, atol=1e-4)
    for note in (ENTRY, POSITION):
        np.testing.assert_array_equal(found.notes[note], eager.notes[note])
    length = np.asarray(alone.ids).shape[2]
    np.testing.assert_array_equal(np.asarray(eager.ids)[1, :, :length], alone.ids[0])
    np.testing.assert_allclose(np.asarray(eager.scores)[1], alone.scores[0], atol=1e-4)


SOURCES_ALONE = np.array([SOURCES[1]], "int32")


OTHERS: list[dict[str, Any]] = [
    {"sampling_temp": 1.0},
    {"sampling_temp": 1.0, "sampling_keep_top_k": 2},
    {"beam_size": 4, "num_groups": 2, "diversity_strength": 1.0, "return_beams": True},
]


@pytest.mark.parametrize("options", OTHERS, ids=["samples", "filtered", "groups"])
def test_samples_and_groups_are_forced_too(model: ToyLstm, options: dict[str, Any]) -> None:
    found = translate_ids(model, FEATURES, DecodeHParams(max_length=6, **options), seed=3)
    assert np.isfinite(found.scores).all()
    # The second source is an entry all over.
    real = np.asarray(found.scores)[1] > WORST
    assert real[0]
    for ids, entries in zip(
        np.asarray(found.ids)[1, : len(real)][real],
        np.asarray(found.notes[ENTRY])[1, : len(real)][real],
        strict=True,
    ):
        assert ids[:2].tolist() == [5, 6]
        assert entries.tolist().count(1) == 1


def test_entries_wait_for_the_given_beginning(model: ToyLstm) -> None:
    begun = [(8,), (9, 3), ()]
    given = {
        prefix.TOKENS: np.array([[8, 0], [9, 3], [0, 0]], "int32"),
        prefix.EDGES: np.zeros((3, 1, 3), "int32"),
        prefix.RANGES: np.zeros((3, 1, 2), "int32"),
        RANKS: np.arange(VOCAB, dtype="int32"),
    }
    options = DecodeHParams(beam_size=2, max_length=6)
    found = translate_ids(model, {**FEATURES, **given}, options)
    ids, entries = np.asarray(found.ids)[:, 0], np.asarray(found.notes[ENTRY])[:, 0]
    for sentence, tokens in enumerate(begun):
        assert tuple(ids[sentence, : len(tokens)].tolist()) == tokens
        assert not entries[sentence, : len(tokens)].any()
    assert ids[1, 2:4].tolist() == [5, 6] and entries[1].tolist() == [0, 0, 1, 0, 0, 0]
