"""Partitions against lists of positions, and their independence of batch and padding."""

import numpy as np
import pytest
import tensorflow as tf
from reference_phrase_representation import Phrases, cut, cut_by_length

from t2t_phrase.ops.partition import (
    fixed_partition,
    fixed_slots,
    length_partition,
    length_slots,
    segment_mask,
    segment_membership,
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
