import itertools
from typing import Any

import numpy as np
import pytest
from keras import ops

from t2t_phrase.compile import traced
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.sampling import sample_seed, sampling_expansion
from t2t_phrase.decoding.search.sampling_filters import Filters
from t2t_phrase.models.base import Step
from t2t_phrase.special_ids import EOS_ID

V, L = 8, 6


def by_table(table: Any) -> Any:
    """Return a decoder whose logits (B, 1, V) depend on sentence, time and last token."""

    def step(ids: Any, index: Any, cache: Any) -> Step:
        now = ops.take(table, index, axis=1)  # (B, V, V)
        return Step(ops.take_along_axis(now, ids[..., None], axis=1), cache, weights={})

    return BatchDecoder(step, cache={}, reorder=lambda cache, parents: cache)


def random_table(seed: int, batch: int) -> np.ndarray:
    return 2 * np.random.default_rng(seed).normal(size=(batch, L, V, V)).astype("float32")


def draw(table: Any, limits: Any = None, **options: Any) -> Hypotheses:
    limits = np.full(table.shape[0], L, "int32") if limits is None else limits
    return beam_search(
        sampling_expansion(by_table(table), **options),
        max_lengths=limits,
        length=L,
        beam_size=1,
        alpha=0.0,
    )


def greedy_by_loops(table: np.ndarray, limit: int, min_length: int = 0) -> tuple[list[int], float]:
    ids, score, last = [0] * L, 0.0, 0
    for time in range(limit):
        logits = table[time, last].astype("float64")
        if time < min_length:
            logits[EOS_ID] = -np.inf
        last = int(logits.argmax())
        ids[time] = last
        score += logits[last] - np.log(np.exp(logits).sum())
        if last == EOS_ID:
            break
    return ids, score


@pytest.mark.parametrize("min_length", [0, 3])
def test_greedy_equals_a_loop(min_length: int) -> None:
    limits = np.array([6, 6, 2, 1, 0, 5, 4, 6], "int32")
    table = random_table(0, len(limits))
    found = draw(table, limits, min_length=min_length)
    assert found.ids.shape == (8, 1, L)
    for i, limit in enumerate(limits):
        ids, score = greedy_by_loops(table[i], limit, min_length)
        assert np.asarray(found.ids[i, 0]).tolist() == ids
        np.testing.assert_allclose(found.scores[i, 0], score, atol=1e-4)
    lengths = np.argmax(np.asarray(found.ids[:, 0]) == EOS_ID, axis=1)
    assert len(set(lengths.tolist())) > 1, "the tables should end outputs at several lengths"


def test_a_temperature_near_zero_is_greedy() -> None:
    table = random_table(1, 16)
    greedy = draw(table)
    cold = draw(table, temperature=1e-3, seed=np.array([1, 2], "int32"))
    np.testing.assert_array_equal(cold.ids, greedy.ids)
    np.testing.assert_allclose(cold.scores, greedy.scores, atol=1e-5)


def test_a_seed_fixes_the_draws_and_another_changes_them() -> None:
    table = random_table(2, 16)
    seeds = [(3, 4), (3, 4), (3, 5), (4, 4), (3, 4 + (1 << 16))]
    draws = [
        np.asarray(draw(table, temperature=1.0, seed=np.array(seed, "int32")).ids) for seed in seeds
    ]
    np.testing.assert_array_equal(draws[0], draws[1])
    for other in draws[2:]:
        assert (draws[0] != other).any()


def test_draws_follow_the_softmax_and_are_independent_of_each_other() -> None:
    """Chi-square of 4000 first tokens, and of pairs of first tokens of two batches."""
    logits = np.linspace(-1.0, 1.0, V).astype("float32")
    count = 4000
    table = np.broadcast_to(logits, (count, L, V, V)).copy()
    for temperature in (1.0, 2.0):
        ids = np.asarray(draw(table, temperature=temperature, seed=np.array([0, 0])).ids)[:, 0]
        expected = np.exp(logits / temperature)
        expected = count * expected / expected.sum()
        observed = np.bincount(ids[:, 0], minlength=V)
        # 7 degrees of freedom: above 24.3 once in a thousand.
        assert ((observed - expected) ** 2 / expected).sum() < 24.3
    # The second token of batch 0 must not be the first one of batch 1.
    going_on = ids[:, 0] != EOS_ID
    other = np.asarray(draw(table, temperature=2.0, seed=np.array([0, 1])).ids)[:, 0]
    same = (ids[going_on, 1] == other[going_on, 0]).mean()
    chance = ((expected / count) ** 2).sum()
    assert abs(same - chance) < 0.05


@pytest.mark.parametrize("keep", [1, 3])
def test_top_k_never_leaves_the_k_best(keep: int) -> None:
    table = random_table(3, 64)
    ids = np.asarray(
        draw(table, temperature=5.0, filters=Filters(keep_top_k=keep), seed=np.array([0, 7])).ids
    )[:, 0]
    ranks = set()
    for row, logits in zip(ids, table, strict=True):
        last = 0
        for time, token in enumerate(row):
            rank = int((logits[time, last] > logits[time, last, token]).sum())
            ranks.add(rank)
            last = int(token)
            if last == EOS_ID:
                break
    assert ranks == set(range(keep))


def test_filters_read_the_probabilities_after_the_temperature() -> None:
    logits = np.linspace(-1.0, 1.0, V).astype("float32")
    table = np.broadcast_to(logits, (1000, L, V, V)).copy()
    kept = {}
    for temperature in (1.0, 4.0):
        probabilities = np.exp(logits.astype("float64") / temperature)
        probabilities /= probabilities.sum()
        # The likeliest tokens are the last ones.
        needed = np.searchsorted(np.cumsum(probabilities[::-1]), 0.7) + 1
        filters = Filters(top_p=0.7)
        found = draw(table, temperature=temperature, filters=filters, seed=np.array([0, 3]))
        kept[temperature] = {*np.asarray(found.ids)[:, 0, 0].tolist()}
        assert kept[temperature] == {*range(V - needed, V)}
    assert len(kept[1.0]) < len(kept[4.0])


def test_a_top_k_above_the_vocabulary_keeps_all() -> None:
    table = random_table(4, 8)
    seed = np.array([0, 0])
    expected = draw(table, temperature=1.0, seed=seed)
    actual = draw(table, temperature=1.0, filters=Filters(keep_top_k=100), seed=seed)
    np.testing.assert_array_equal(actual.ids, expected.ids)


def test_the_score_is_the_log_probability_of_what_was_drawn() -> None:
    table = random_table(5, 8)
    found = draw(table, temperature=2.0, seed=np.array([1, 1]))
    for i, row in enumerate(np.asarray(found.ids[:, 0])):
        score, last = 0.0, 0
        for time, token in enumerate(row):
            logits = table[i, time, last].astype("float64")
            score += logits[token] - np.log(np.exp(logits).sum())
            last = int(token)
            if last == EOS_ID:
                break
        np.testing.assert_allclose(found.scores[i, 0], score, atol=1e-4)


@pytest.mark.slow
def test_graph_and_xla_equal_eager() -> None:
    table = random_table(6, 8)
    limits = np.array([6, 1, 3, 6, 6, 2, 6, 6], "int32")
    seed = np.array([1, 2])

    def run(table: Any, limits: Any, seed: Any) -> tuple[Any, Any]:
        drawn = draw(table, limits, temperature=1.0, filters=Filters(keep_top_k=4), seed=seed)
        return draw(table, limits), drawn

    greedy, drawn = run(table, limits, seed)
    for xla in (False, True):
        compiled = traced(run, jit_compile=xla)
        now, drawn_now = compiled(table, limits, seed)
        np.testing.assert_array_equal(now.ids, greedy.ids)
        np.testing.assert_allclose(now.scores, greedy.scores, atol=1e-5)
        np.testing.assert_array_equal(drawn_now.ids, drawn.ids)
        other = compiled(table, limits, seed + 1)[1]
        assert np.any(drawn_now.ids != other.ids)


def test_samples_of_a_seed_are_not_those_of_the_next_seed() -> None:
    cases = itertools.product(range(5), range(3), range(20))
    seeds = {
        tuple(sample_seed(seed, batch=batch, sample=sample).tolist())
        for seed, batch, sample in cases
    }
    assert len(seeds) == 5 * 3 * 20
