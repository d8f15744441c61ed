"""The best continuations in both forms, and tokens that are forced or forbidden."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.plain_expansion import (
    best_continuations,
    forbid_early_end,
    only_forced,
    plain_expansion,
)
from t2t_phrase.models.base import Step
from t2t_phrase.ops.likeliest import block_width
from t2t_phrase.special_ids import EOS_ID

BEAMS, VOCAB = 3, 700


def by_definition(logits: Any, log_probs: Any, forced: Any, count: int) -> tuple[Any, Any, Any]:
    """Return what `best_continuations` does, from all log-probabilities in float64."""
    every = logits.astype("float64")
    every -= np.log(np.exp(every).sum(-1, keepdims=True)) - log_probs[..., None]
    if forced is not None:
        excluded = (forced[..., None] >= 0) & (np.arange(VOCAB) != forced[..., None])
        every[excluded] = -np.inf
    every = every.reshape(len(logits), -1)
    # Rounding must not decide between equal logits.
    places = np.argsort(-every.round(4), axis=-1, kind="stable")[:, :count]
    return np.take_along_axis(every, places, axis=-1), places // VOCAB, places % VOCAB


@pytest.mark.parametrize("xla", [False, True])
@pytest.mark.parametrize("forced", [None, [[5, -1, 0], [-1, 699, 1], [9, 9, 9]]])
@pytest.mark.parametrize("kinds", [6, 100_000])
def test_they_are_those_of_the_definition(
    xla: bool, forced: list[list[int]] | None, kinds: int
) -> None:
    rng = np.random.default_rng(kinds)
    logits = (rng.integers(0, kinds, (3, BEAMS, VOCAB)) / kinds * 6).astype("float32")
    log_probs = np.array([[-1.0, -0.5, -2.0]] * 3, "float32")
    forced = None if forced is None else np.array(forced, "int32")
    actual = compiled(best_continuations, xla=xla)(
        ops.convert_to_tensor(logits),
        ops.convert_to_tensor(log_probs),
        None if forced is None else ops.convert_to_tensor(forced),
    )
    expected = by_definition(logits, log_probs, forced, 2 * BEAMS)
    real = expected[0] > -np.inf
    np.testing.assert_allclose(actual[0], expected[0], rtol=1e-5)
    for found, wanted in zip(actual[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(np.array(found)[real], wanted[real])


def test_beside_a_forced_token_come_the_lowest_others() -> None:
    logits = np.array([[3.0, 5.0, 4.0, 1.0]] * 3, "float32")
    values = ops.convert_to_tensor([[5.0, 4.0, 3.0]] * 3)
    tokens = ops.convert_to_tensor(np.array([[1, 2, 0]] * 3, "int32"))
    forced = ops.convert_to_tensor(np.array([1, 3, -1], "int32"))
    values, tokens = only_forced(values, tokens, ops.convert_to_tensor(logits), forced)
    never = -np.inf
    np.testing.assert_array_equal(values, [[5, never, never], [1, never, never], [5, 4, 3]])
    np.testing.assert_array_equal(tokens, [[1, 0, 2], [3, 0, 1], [1, 2, 0]])


def test_only_an_early_end_is_forbidden() -> None:
    logits = np.random.default_rng(0).normal(size=(2, BEAMS, VOCAB)).astype("float32")
    early, late = (forbid_early_end(ops.convert_to_tensor(logits), i, 2) for i in (1, 2))
    np.testing.assert_array_equal(late, logits)
    logits[..., EOS_ID] = -np.inf
    np.testing.assert_array_equal(early, logits)


@pytest.mark.slow
def test_graphs_find_what_xla_finds() -> None:
    assert block_width(VOCAB, 2 * BEAMS) is not None
    # By the last token alone.
    table = np.random.default_rng(1).normal(size=(VOCAB, VOCAB)).astype("float32")

    def step(ids: Any, index: Any, cache: Any) -> Step:
        return Step(ops.take(table, ids, axis=0), cache, weights={})

    decoder = BatchDecoder(step, {}, lambda cache, parents: cache)

    def search() -> Hypotheses:
        return beam_search(
            plain_expansion(decoder, min_length=2),
            max_lengths=np.array([4, 3], "int32"),
            length=4,
            beam_size=BEAMS,
            alpha=0.6,
        )

    found, expected = (compiled(search, xla=xla)() for xla in (False, True))
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-5)
