"""Outputs without repeated n-grams, against plain Python."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import reference_beam_search as reference
from spelling_tokens import few_tokens
from spelt_prefixes import TEXTS, Given, allowed, is_given, prefix_of
from table_model import TableModel, as_lists, assert_same, random_table

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.diverse import diverse_expansion, join_groups
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.decoding.search.prefix import prefix_decoder
from t2t_phrase.decoding.search.repetition import completing, nonrepeating_decoder
from t2t_phrase.decoding.search.sampling import sampling_expansion

LENGTH, VOCAB = 8, 4
LIMITS = np.array([8, 8, 5, 8], "int32")
TABLE = random_table(0, len(LIMITS), LENGTH, VOCAB, eos=-4.0)
TABLE[..., 2] += 3


def banned_after(prefix: tuple[int, ...], size: int) -> set[int]:
    """Return the tokens after which an n-gram would stand in a prefix twice."""
    grams = [prefix[i : i + size] for i in range(len(prefix) - size + 1)]
    return {token for token in range(VOCAB) if (*prefix, token)[-size:] in grams}


def without_repetition(log_probs: reference.LogProbs, size: int) -> reference.LogProbs:
    def of_prefix(prefix: reference.Prefix) -> list[float]:
        banned = banned_after(prefix, size)
        return [-math.inf if t in banned else s for t, s in enumerate(log_probs(prefix))]

    return of_prefix


def search(table: Any, *, size: int, beam_size: int = 3) -> Hypotheses:
    decoder = nonrepeating_decoder(
        TableModel(table).decoder(beam_size),
        size=size,
        shape=(table.shape[0], beam_size),
        length=LENGTH,
    )
    expansion = plain_expansion(decoder) if beam_size > 1 else sampling_expansion(decoder)
    alpha = 0.6 if beam_size > 1 else 0.0
    return beam_search(
        expansion, max_lengths=LIMITS, length=LENGTH, beam_size=beam_size, alpha=alpha
    )


@pytest.mark.parametrize(("size", "beam_size"), [(1, 3), (2, 3), (3, 3), (2, 1)])
def test_equals_the_plain_search(size: int, beam_size: int) -> None:
    found = compiled(lambda table: search(table, size=size, beam_size=beam_size))(TABLE)
    free = 0
    for sentence, limit in enumerate(LIMITS.tolist()):
        log_probs = TableModel(TABLE).log_probs(sentence)
        expected = reference.search(
            without_repetition(log_probs, size),
            max_length=limit,
            beam_size=beam_size,
            alpha=0.6 if beam_size > 1 else 0.0,
        )
        if beam_size == 1:
            # Greedy search stops at EOS, and a beam of one does not.
            expected = [greedy(without_repetition(log_probs, size), limit)]
        actual = as_lists(found, sentence)
        longest = max(len(ids) for ids, _ in expected)
        assert_same([(ids[:longest], score) for ids, score in actual], expected)
        plain = reference.search(log_probs, max_length=limit, beam_size=beam_size, alpha=0.6)
        free += plain[0][0] != expected[0][0]
    assert free, "without the ban something would be repeated"


def greedy(log_probs: reference.LogProbs, limit: int) -> tuple[tuple[int, ...], float]:
    prefix: tuple[int, ...] = ()
    total = 0.0
    while len(prefix) < limit and reference.EOS not in prefix:
        scores = log_probs(prefix)
        token = int(np.argmax(scores))
        prefix, total = (*prefix, token), total + scores[token]
    return prefix, total


def test_where_nothing_may_follow_the_hypotheses_so_far_are_the_result() -> None:
    decoder = nonrepeating_decoder(
        TableModel(TABLE).decoder(2), size=1, shape=(len(TABLE), 2), length=LENGTH
    )
    # Of four tokens, EOS is barred, and each of the others may occur once.
    found = beam_search(
        plain_expansion(decoder, min_length=6),
        max_lengths=np.full(len(TABLE), LENGTH, "int32"),
        length=LENGTH,
        beam_size=2,
        alpha=0.6,
    )
    for sentence in range(len(TABLE)):
        log_probs = TableModel(TABLE).log_probs(sentence)
        ids = tuple(np.asarray(found.ids)[sentence, 0].tolist())
        assert sorted(ids[:3]) == [0, 2, 3] and not any(ids[3:])
        expected = 0.0
        for end in range(3):
            scores = log_probs(ids[:end])
            expected += scores[ids[end]] - math.log1p(-math.exp(scores[reference.EOS]))
        np.testing.assert_allclose(found.scores[sentence, 0], expected, atol=1e-4)


@pytest.mark.slow
def test_xla_and_a_sentence_alone_give_the_same() -> None:
    graph, xla = (
        compiled(lambda table: search(table, size=2), xla=xla)(TABLE) for xla in (False, True)
    )
    np.testing.assert_array_equal(graph.ids, xla.ids)
    np.testing.assert_allclose(graph.scores, xla.scores, rtol=1e-5)


def test_groups_do_not_repeat_either() -> None:
    decoder = nonrepeating_decoder(
        TableModel(TABLE).decoder(4), size=2, shape=(len(TABLE), 4), length=LENGTH
    )
    found = beam_search(
        diverse_expansion(decoder, beam_size=4, groups=2, strength=1.0),
        max_lengths=np.repeat(LIMITS, 2),
        length=LENGTH,
        beam_size=2,
        alpha=0.6,
    )
    joined = join_groups(found, 2)
    for sentence, limit in enumerate(LIMITS.tolist()):
        for ids, _ in as_lists(joined, sentence):
            grams = [*itertools.pairwise(ids[:limit])]
            assert len(grams) == len({*grams})


def test_samples_do_not_repeat_either() -> None:
    decoder = nonrepeating_decoder(
        TableModel(TABLE).decoder(1), size=2, shape=(len(TABLE), 1), length=LENGTH
    )
    found = beam_search(
        sampling_expansion(decoder, temperature=1.0, seed=np.array([0, 1])),
        max_lengths=LIMITS,
        length=LENGTH,
        beam_size=1,
        alpha=0.0,
    )
    for sentence, limit in enumerate(LIMITS.tolist()):
        ((ids, _),) = as_lists(found, sentence)
        grams = [*itertools.pairwise(ids[:limit])]
        assert len(grams) == len({*grams})


def test_only_what_is_given_may_repeat() -> None:
    begun: list[Given] = [((6,), " "), ((6, 5, 6), " "), ((), " aa"), ((6, 6), "")]
    table = random_table(1, len(begun), LENGTH, len(TEXTS), eos=-4.0)
    table[..., [5, 6]] += 4
    shape, ranks = (len(begun), 3), few_tokens().tables.ranks
    decoder = prefix_decoder(TableModel(table).decoder(3), prefix_of(begun), ranks, 3)
    found = beam_search(
        plain_expansion(nonrepeating_decoder(decoder, size=1, shape=shape, length=LENGTH)),
        max_lengths=LIMITS,
        length=LENGTH,
        beam_size=3,
        alpha=0.6,
    )
    for sentence, (given, limit) in enumerate(zip(begun, LIMITS.tolist(), strict=True)):
        log_probs = TableModel(table).log_probs(sentence)

        def masked(
            prefix: tuple[int, ...], log_probs: Any = log_probs, given: Given = given
        ) -> list[float]:
            return [
                value
                if allowed(prefix, given, token)
                and (is_given(prefix, given, token) or token not in prefix)
                else -math.inf
                for token, value in enumerate(log_probs(prefix))
            ]

        expected = reference.search(masked, max_length=limit, beam_size=3, alpha=0.6)
        actual = as_lists(found, sentence)
        longest = max(len(ids) for ids, _ in expected)
        assert_same([(ids[:longest], score) for ids, score in actual][: len(expected)], expected)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_tokens_that_complete_an_n_gram(size: int) -> None:
    rng = np.random.default_rng(size)
    for count in range(7):
        prefix = rng.integers(0, VOCAB, (2, 3, count))
        history = np.zeros((2, 3, 9), "int32")
        history[..., 1 : count + 1] = prefix
        found = np.asarray(completing(history, count, size, VOCAB))
        for b, k in np.ndindex(2, 3):
            expected = banned_after(tuple(prefix[b, k].tolist()), size)
            assert set(np.flatnonzero(found[b, k]).tolist()) == expected
