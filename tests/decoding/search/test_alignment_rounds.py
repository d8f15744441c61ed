"""Rounds of pairs, for all sentences and for some, against all pairs at once; no model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.search.alignment_pruning import pack
from t2t_phrase.decoding.search.alignment_rounds import Sentences, best_pairs
from t2t_phrase.decoding.search.best_pairs import Best, Evaluated
from t2t_phrase.special_ids import EOS_ID

BEAMS, LENGTH, VOCAB = 3, 6, 7


class Model:
    """Looks logits up by the number of the pair; keeps the number of sentences of each call."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def evaluate(self, memory: Any, part: Sentences, pairs: Any) -> Evaluated:
        self.rows.append(len(pairs))
        # The state moves with the sentences.
        np.testing.assert_array_equal(part.cache["number"], memory[:, 0, 0])
        return Evaluated(ops.take_along_axis(memory, pairs[..., None], axis=1))


def take_memory(memory: Any, rows: Any) -> Any:
    return ops.take(memory, rows, axis=0)


def found(counts: list[int], seed: int = 0) -> tuple[Any, Any, Any, Any, list[int]]:
    """Return (best, logits, scores, wanted, sentences of each round) for so many pairs each."""
    rng = np.random.default_rng(seed)
    batch, pairs = len(counts), BEAMS * LENGTH
    logits = rng.normal(size=(batch, pairs, VOCAB)).astype("float32")
    scores = rng.normal(size=(batch, pairs)).astype("float32")
    wanted = np.zeros((batch, pairs), bool)
    for row, count in zip(wanted, counts, strict=True):
        row[rng.permutation(pairs)[:count]] = True
    sentences = Sentences(
        ops.zeros((batch, BEAMS), "int32"),
        {"number": ops.convert_to_tensor(logits[:, 0, 0])},
        ops.convert_to_tensor(scores),
        pack(ops.convert_to_tensor(wanted.reshape(batch, BEAMS, LENGTH))),
    )
    model = Model()
    best = best_pairs(
        sentences,
        ops.convert_to_tensor(logits),
        evaluate=model.evaluate,
        take_memory=take_memory,
    )
    return best, logits, scores, wanted, model.rows


@pytest.mark.parametrize(
    "counts", [[18, 0, 1, 3, 4, 7, 2, 3, 3, 1, 3, 0, 2, 3, 3, 3, 12], [5, 4], [2], [18] * 5]
)
def test_the_best_of_all_pairs_are_found_in_any_number_of_rounds(counts: list[int]) -> None:
    best, logits, scores, wanted, _ = found(counts)
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True)) + scores[..., None]
    log_probs[~wanted] = -np.inf
    for row, every in enumerate(log_probs):
        going = every.copy()
        going[:, EOS_ID] = -np.inf
        places = np.argsort(-going, axis=None)[:BEAMS]
        real = np.take(going, places) > -np.inf
        np.testing.assert_allclose(best.log_probs[row], np.take(going, places), rtol=1e-5)
        np.testing.assert_array_equal(np.array(best.pairs[row])[real], (places // VOCAB)[real])
        np.testing.assert_array_equal(np.array(best.tokens[row])[real], (places % VOCAB)[real])
        ends = np.argsort(-every[:, EOS_ID])[:BEAMS]
        real = every[ends, EOS_ID] > -np.inf
        np.testing.assert_allclose(best.ended[row], every[ends, EOS_ID], rtol=1e-5)
        np.testing.assert_array_equal(np.array(best.ended_pairs[row])[real], ends[real])


def test_later_rounds_are_made_for_few_sentences() -> None:
    assert found([3] * 16)[-1] == [16]
    assert found([18] + [3] * 15)[-1] == [16, 1, 1, 1, 1, 1]
    assert found([18, 9, 9, 9, 6] + [3] * 11)[-1] == [16, 16, 4, 1, 1, 1]
    assert found([18] * 16)[-1] == [16] * 6
    assert found([0] * 16)[-1] == []


@pytest.mark.parametrize("forced", [None, [[-1, 4, EOS_ID], [700, -1, -1]]])
def test_graphs_find_the_same_best_as_xla(forced: list[list[int]] | None) -> None:
    rng = np.random.default_rng(0)
    scores = ops.convert_to_tensor(rng.normal(size=(2, BEAMS)).astype("float32"))
    pairs = ops.convert_to_tensor(np.arange(2 * BEAMS, dtype="int32").reshape(2, BEAMS))
    logits = rng.integers(0, 9, (2, BEAMS, 800)).astype("float32")
    logits[0, :, EOS_ID] = 9  # among the likeliest, but it cannot go on
    evaluated = Evaluated(
        ops.convert_to_tensor(logits), None if forced is None else ops.cast(forced, "int32")
    )
    merged = Best.none(scores).merged
    graph, program = (compiled(merged, xla=xla)(scores, pairs, evaluated) for xla in (False, True))
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True)) + np.array(scores)[..., None]
    if forced is not None:
        kept = np.array(forced)[..., None]
        log_probs[(kept >= 0) & (np.arange(800) != kept)] = -np.inf
    going = log_probs.copy()
    going[..., EOS_ID] = -np.inf
    for sentence, every in enumerate(going.reshape(2, -1)):
        # Rounding must not decide between equal logits.
        places = np.argsort(-every.round(4), kind="stable")[:BEAMS]
        real = every[places] > -np.inf
        np.testing.assert_allclose(program.log_probs[sentence], every[places], rtol=1e-5)
        np.testing.assert_array_equal(np.array(program.tokens[sentence])[real], places[real] % 800)
    ends = -np.sort(-log_probs[..., EOS_ID])
    np.testing.assert_allclose(program.ended, ends, rtol=1e-5)
    for field, a, b in zip(Best._fields, program, graph, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=field)
