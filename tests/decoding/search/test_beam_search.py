"""Beam search against a plain Python one, on tables of random logits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import reference_beam_search as reference
from keras import ops
from table_model import TableModel, as_lists, assert_same, random_table

from t2t_phrase.compile import traced
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses, beam_search, length_penalty
from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.special_ids import EOS_ID


@pytest.mark.parametrize("only_best", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("beam_size", "alpha", "min_length", "eos"),
    [
        (4, 0.6, 0, 0.0),
        pytest.param(4, 0.6, 0, 2.0, marks=pytest.mark.slow),
        (4, 0.0, 0, -2.0),
        pytest.param(2, 1.5, 0, 1.0, marks=pytest.mark.slow),
        (3, 0.6, 3, 1.0),
        (1, 0.6, 0, 0.0),
        (8, 1.0, 0, 0.0),  # 2K is more than the vocabulary
        pytest.param(8, 0.6, 2, 2.0, marks=pytest.mark.slow),
    ],
)
def test_equals_the_plain_search(
    beam_size: int, alpha: float, min_length: int, eos: float, only_best: bool
) -> None:
    limits = [7, 1, 4, 7, 2, 6]
    for seed in range(3):
        model = TableModel(random_table(seed, len(limits), max(limits), vocab=9, eos=eos))
        options = {"beam_size": beam_size, "alpha": alpha, "min_length": min_length}
        options["only_best"] = only_best
        found = model.search(max_lengths=np.array(limits, "int32"), length=7, **options)
        for sentence, limit in enumerate(limits):
            expected = reference.search(model.log_probs(sentence), max_length=limit, **options)
            actual = as_lists(found, sentence)
            if all(ids[-1] != EOS_ID for ids, _ in expected):
                # Unfinished hypotheses fill their limit; what follows is zeros.
                assert not np.asarray(found.ids[sentence])[:, limit:].any()
                actual = [(tuple(ids[:limit]), score) for ids, score in actual]
            if only_best:
                actual, expected = actual[:1], expected[:1]
            assert_same(actual, expected)


def test_the_tables_exercise_every_kind_of_end() -> None:
    """The test above is worth something: some sentences finish early, some late, some never."""
    ends = set()
    for eos in (-8.0, 0.0, 2.0):
        model = TableModel(random_table(0, 6, 7, vocab=9, eos=eos))
        for sentence in range(6):
            best = reference.search(
                model.log_probs(sentence), max_length=7, beam_size=4, alpha=0.6
            )[0][0]
            ends.add(len(best) if best[-1] == EOS_ID else 0)
    assert 0 in ends
    assert len(ends) >= 4


def test_without_a_finished_hypothesis_the_unfinished_are_returned_with_plain_scores() -> None:
    model = TableModel(random_table(1, 2, 4, vocab=9, eos=-100.0))
    found = model.search(max_lengths=np.array([4, 2], "int32"), length=4, beam_size=3, alpha=0.6)
    for sentence, limit in enumerate((4, 2)):
        log_probs = model.log_probs(sentence)
        expected = reference.search(log_probs, max_length=limit, beam_size=3, alpha=0.6)
        actual = [(ids[:limit], score) for ids, score in as_lists(found, sentence)]
        assert_same(actual, expected)
        whole = actual[0][0]
        plain = sum(log_probs(whole[:i])[token] for i, token in enumerate(whole))
        np.testing.assert_allclose(actual[0][1], plain, atol=1e-4)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_a_beam_that_holds_everything_finds_the_best_of_all(alpha: float) -> None:
    vocab, length = 4, 4
    model = TableModel(random_table(2, 3, length, vocab))
    beam_size = (vocab - 1) ** length  # as many as there are unfinished prefixes
    found = model.search(
        max_lengths=np.full(3, length, "int32"), length=length, beam_size=beam_size, alpha=alpha
    )
    for sentence in range(3):
        every = reference.exhaustive(
            model.log_probs(sentence), vocab_size=vocab, max_length=length, alpha=alpha
        )
        assert len(every) == sum(3**n for n in range(4))
        assert_same(as_lists(found, sentence), every)


def test_only_best_gives_the_best_of_the_full_search() -> None:
    limits = np.full(20, 8, "int32")
    for seed in range(3):
        model = TableModel(random_table(seed, 20, 8, vocab=9))
        options = {"max_lengths": limits, "length": 8, "beam_size": 4, "alpha": 0.6}
        quick, full = (model.search(only_best=best, **options) for best in (True, False))
        np.testing.assert_array_equal(quick.ids[:, 0], full.ids[:, 0])
        np.testing.assert_allclose(quick.scores[:, 0], full.scores[:, 0], rtol=1e-6)


def test_a_sentence_has_the_same_result_alone_and_in_a_batch() -> None:
    limits = np.array([8, 3, 6, 0, 8], "int32")
    table = random_table(3, 5, 8, vocab=9)
    options = {"beam_size": 4, "alpha": 0.6}
    together = TableModel(table).search(max_lengths=limits, length=8, **options)
    for i, limit in enumerate(limits):
        alone = TableModel(table[i : i + 1]).search(
            max_lengths=limits[i : i + 1], length=max(int(limit), 1), **options
        )
        np.testing.assert_array_equal(together.ids[i, :, : max(limit, 1)], alone.ids[0])
        assert not np.any(together.ids[i, :, limit:])
        np.testing.assert_array_equal(together.scores[i], alone.scores[0])


def test_graph_and_xla_equal_eager() -> None:
    table = random_table(4, 4, 6, vocab=9)
    limits = np.array([6, 2, 5, 6], "int32")

    def run(table: Any, limits: Any) -> Hypotheses:
        return TableModel(table).search(
            max_lengths=limits, length=6, beam_size=3, alpha=0.6, min_length=1
        )

    eager = run(table, limits)
    for xla in (False, True):
        compiled = traced(run, jit_compile=xla)(table, limits)
        np.testing.assert_array_equal(compiled.ids, eager.ids)
        np.testing.assert_allclose(compiled.scores, eager.scores, rtol=1e-5)


def test_equal_sums_of_tokens_do_not_hide_a_wrong_cache() -> None:
    """The caches of beams differ in the tables above, else they could not show a mistake."""
    model = TableModel(random_table(0, 6, 7, vocab=9))
    broken = dataclasses.replace(model)
    object.__setattr__(broken, "reorder", lambda cache, parents: cache)
    options = {"max_lengths": np.full(6, 7, "int32"), "length": 7, "beam_size": 4, "alpha": 0.6}
    assert np.any(model.search(**options).ids != broken.search(**options).ids)


def test_length_penalty_is_googles() -> None:
    np.testing.assert_allclose(length_penalty(1, 0.6), 1.0)
    np.testing.assert_allclose(length_penalty(np.array([7, 13]), 2.0), [4.0, 9.0])
    np.testing.assert_allclose(length_penalty(100, 0.0), 1.0)


def test_beams_without_a_hypothesis_have_the_worst_score() -> None:
    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        never = ops.full_like(alive.log_probs, -float("inf"))
        only = ops.where(ops.arange(2) == 0, alive.log_probs - 1.0, never)
        zeros = ops.zeros_like(alive.tokens)
        return Candidates(only, zeros, zeros + 5, zeros > 0, {}), cache

    expansion = Expansion(expand, ops.zeros((1, 2)), lambda cache, parents: cache, {})
    found = beam_search(expansion, max_lengths=ops.array([2]), length=2, beam_size=2, alpha=0.0)
    np.testing.assert_array_equal(found.scores, [[-2.0, WORST]])
