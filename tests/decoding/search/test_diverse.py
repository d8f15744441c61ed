"""Diverse beam search against plain Python, on tables of random logits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference_diverse_search as reference
from keras import ops
from table_model import TableModel, as_lists, assert_same, random_table

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses, beam_search
from t2t_phrase.decoding.search.diverse import diverse_expansion, join_groups

LENGTH, VOCAB = 6, 9


def search(
    table: Any, limits: Any, *, beam_size: int, groups: int, alpha: float = 0.6, **options: Any
) -> Hypotheses:
    decoder = TableModel(table).decoder(beam_size)
    found = beam_search(
        diverse_expansion(decoder, beam_size=beam_size, groups=groups, **options),
        max_lengths=ops.repeat(limits, groups),
        length=LENGTH,
        beam_size=beam_size // groups,
        alpha=alpha,
    )
    return join_groups(found, groups)


@pytest.mark.parametrize(
    ("beam_size", "groups", "strength", "eos", "min_length"),
    [(6, 3, 0.7, 1.0, 0), (4, 2, 3.0, 0.0, 3), (3, 3, 0.4, 2.0, 0), (4, 2, 0.5, -8.0, 0)],
)
def test_equals_the_plain_search(
    beam_size: int, groups: int, strength: float, eos: float, min_length: int
) -> None:
    limits = np.array([6, 1, 4, 6, 5, 6], "int32")
    options = {"beam_size": beam_size, "groups": groups, "strength": strength}
    options["min_length"] = min_length
    table = random_table(beam_size, len(limits), LENGTH, VOCAB, eos)
    run = compiled(lambda table, limits: search(table, limits, **options), xla=False)
    found = run(table, limits)
    model = TableModel(table)
    for sentence, limit in enumerate(limits.tolist()):
        expected = reference.search(
            model.log_probs(sentence), max_length=limit, alpha=0.6, **options
        )
        actual = [
            (ids[: len(own)], score)
            for (ids, score), (own, _) in zip(as_lists(found, sentence), expected, strict=True)
        ]
        # Groups may find the same: equal scores have no order.
        key = lambda item: (-round(item[1], 3), item[0])  # noqa: E731
        assert_same(sorted(actual, key=key), sorted(expected, key=key))


def test_groups_make_lists_diverse() -> None:
    table, limits = random_table(0, 6, LENGTH, VOCAB), np.full(6, LENGTH, "int32")

    def different(strength: float) -> int:
        found = search(table, limits, beam_size=4, groups=4, strength=strength)
        return sum(len({ids for ids, _ in as_lists(found, i)}) for i in range(6))

    assert different(0.0) == 6
    # Groups that reach the limit have no result beside those that have ended.
    assert different(5.0) > 12


@pytest.mark.slow
def test_a_sentence_alone_and_xla_give_the_same() -> None:
    table, limits = random_table(1, 4, LENGTH, VOCAB, 1.0), np.array([6, 2, 6, 5], "int32")
    options = {"beam_size": 4, "groups": 2, "strength": 0.8}
    run = compiled(lambda table, limits: search(table, limits, **options), xla=False)
    together = run(table, limits)
    for i in range(4):
        alone = run(table[i : i + 1], limits[i : i + 1])
        np.testing.assert_array_equal(together.ids[i], alone.ids[0])
    made = compiled(lambda table, limits: search(table, limits, **options), xla=True)(table, limits)
    np.testing.assert_array_equal(made.ids, together.ids)
    np.testing.assert_allclose(made.scores, together.scores, rtol=1e-5)


def test_a_sentence_without_tokens_has_one_result() -> None:
    ids = np.zeros((2, 2, 3), "int32")
    scores = np.array([[0.0, WORST], [0.0, WORST]], "float32")
    found = join_groups(Hypotheses(ops.array(ids), ops.array(scores), {}), 2)
    np.testing.assert_array_equal(found.scores, [[0.0, WORST, WORST, WORST]])
