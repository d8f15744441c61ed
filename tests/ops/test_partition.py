"""Partitions against lists of positions, and their independence of batch and padding."""

import numpy as np
import pytest
import tensorflow as tf
from reference_phrase_representation import Phrases, cut, cut_by_length

from t2t_phrase.ops.partition import (
    fixed_partition,
    fixed_slots,
    joined_partition,
    length_partition,
    length_slots,
    level_partition,
    segment_mask,
    segment_membership,
    segment_pairs,
)

LENGTHS = [1, 2, 3, 17, 18, 23, 24, 47, 48, 60, 0]


def real_tokens(lengths: list[int], width: int) -> np.ndarray:
    return np.arange(width) < np.array(lengths)[:, None]


def numbers_of(phrases: Phrases, width: int) -> list[int]:
    numbers = [number for number, phrase in enumerate(phrases, 1) for _ in phrase]
    return numbers + [0] * (width - len(numbers))


@pytest.mark.parametrize("width", [60, 71])
def test_phrases_are_longer_in_longer_sentences_whatever_the_padding(width: int) -> None:
    numbers = np.asarray(length_partition(real_tokens(LENGTHS, width)))
    assert numbers.dtype == np.int32
    for row, tokens in zip(numbers, LENGTHS, strict=True):
        assert row.tolist() == numbers_of(cut_by_length(tokens), width)


def test_a_sentence_of_17_tokens_has_phrases_of_3_and_one_of_60_of_8() -> None:
    numbers = np.asarray(length_partition(real_tokens([17, 60], 60)))
    assert np.bincount(numbers[0])[1:].tolist() == [3, 3, 3, 3, 3, 2]
    assert np.bincount(numbers[1])[1:].tolist() == [8, 8, 8, 8, 8, 8, 8, 4]


@pytest.mark.parametrize("tokens", [1, 2, 5])
def test_fixed_ngrams(tokens: int) -> None:
    numbers = np.asarray(fixed_partition(real_tokens(LENGTHS, 60), tokens))
    for row, length in zip(numbers, LENGTHS, strict=True):
        assert row.tolist() == numbers_of(cut(length, tokens) if length else [], 60)


def test_every_sentence_has_slots_for_its_phrases_and_the_longest_need_them_all() -> None:
    for length in range(1, 140):
        every = np.tril(np.ones((length, length), bool))  # sentences of 1, ..., length tokens
        needed = int(np.max(length_partition(every)))
        assert length_slots(length) == needed
        assert int(length_slots(tf.constant(length))) == needed
        assert fixed_slots(length, 4) == len(cut(length, 4))


def test_membership_and_mask_of_two_partitions_at_once() -> None:
    numbers = np.array([[[1, 1, 2, 0], [1, 2, 3, 0]], [[1, 1, 1, 1], [1, 1, 2, 2]]])
    membership = np.asarray(segment_membership(numbers, 3))
    assert membership.shape == (2, 2, 3, 4)
    expected = [[True, True, False, False], [False, False, True, False], [False] * 4]
    assert membership[0, 0].tolist() == expected
    assert membership[1, 1].sum(-1).tolist() == [2, 2, 0]
    mask = np.asarray(segment_mask(membership[:, 0]))
    assert mask.tolist() == [[[[True, True, False]]], [[[True, False, False]]]]


# Sentences of 17, 1 and 24 tokens, and padding, in one row.
ROW_LENGTHS = [17, 1, 24]
PAIRS = np.array([[1] * 17 + [2] + [3] * 24 + [0] * 3])


def joined(partitions: list[np.ndarray]) -> list[int]:
    """Return the numbers of sentences in a row, each of which counts on from the one before."""
    found: list[int] = []
    for numbers in partitions:
        found += (max(found, default=0) + numbers).tolist()
    return [*found, 0, 0, 0]


@pytest.mark.parametrize(
    "cut_sentence", [length_partition, lambda *of: fixed_partition(of[0], 5, *of[1:])]
)
def test_sentences_of_a_row_are_cut_as_if_they_were_alone(cut_sentence) -> None:
    alone = [np.asarray(cut_sentence(np.ones((1, n), bool)))[0] for n in ROW_LENGTHS]
    together = np.asarray(cut_sentence(PAIRS > 0, PAIRS))
    assert together[0].tolist() == joined(alone)


def test_a_stored_partition_counts_on_through_a_row() -> None:
    numbers = np.array([[1, 1, 2, 1, 1, 2, 3, 0]])
    pairs = np.array([[1, 1, 1, 2, 3, 3, 3, 0]])
    found = np.asarray(joined_partition(numbers, pairs))
    assert found.tolist() == [[1, 1, 2, 3, 4, 5, 6, 0]]
    membership = segment_membership(found, 8)
    assert np.asarray(segment_pairs(membership, pairs)).tolist() == [[1, 1, 2, 3, 3, 3, 0, 0]]


def test_levels_of_a_row_count_on_through_it() -> None:
    levels = np.array([[1, 3, 2, 1, 1, 2, 0]])
    assert np.asarray(level_partition(levels, 2)).tolist() == [[1, 1, 2, 3, 4, 5, 0]]
