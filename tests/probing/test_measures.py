"""Scores of predictions against loops."""

import math

import numpy as np
import pytest

from t2t_phrase.probing.classes import NONE
from t2t_phrase.probing.measures import labels_of, measure

RNG = np.random.default_rng(3)
# Class 3 is an unknown label, which is never predicted.
LABELS = [RNG.integers(NONE, 4, size=n).astype("int32") for n in RNG.integers(1, 9, size=40)]
PREDICTED = [RNG.integers(0, 3, size=len(gold)) for gold in labels_of(LABELS)]


def test_measures_equal_loops():
    pairs = [
        (int(p), int(g))
        for predicted, gold in zip(PREDICTED, LABELS, strict=True)
        for p, g in zip(predicted, [x for x in gold if x != NONE], strict=True)
    ]
    found = measure(PREDICTED, LABELS)
    assert found.accuracy == pytest.approx(sum(p == g for p, g in pairs) / len(pairs))
    scores = []
    for number in range(4):
        true = sum(p == g == number for p, g in pairs)
        precise = sum(p == number for p, _ in pairs)
        recalled = sum(g == number for _, g in pairs)
        precision, recall = true / precise if precise else 0, true / recalled if recalled else 0
        scores.append(2 * precision * recall / (precision + recall) if true else 0)
    assert found.macro_f1 == pytest.approx(sum(scores) / 4)


def test_the_standard_error_is_that_of_drawn_sentences():
    # One label a sentence: the error of a share.
    gold = [np.array([i % 3 == 0], "int32") for i in range(90)]
    predicted = [np.zeros(1, "int32")] * 90
    share = 2 / 3
    assert measure(predicted, gold).standard_error == pytest.approx(
        math.sqrt(share * (1 - share) / 89)
    )
    # Words of a sentence that are right or wrong together count as one.
    words = [np.repeat(numbers, 5) for numbers in gold]
    together = measure([np.zeros(5, "int32")] * 90, words)
    assert together.standard_error == pytest.approx(measure(predicted, gold).standard_error)
