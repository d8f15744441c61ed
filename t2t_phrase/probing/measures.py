"""Accuracy, its standard error, and macro-F1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.probing.classes import NONE


class Measures(NamedTuple):
    """Scores of the predictions for a split.

    Attributes:
        accuracy: share of the labels that are predicted correctly.
        macro_f1: mean, over the classes that occur among labels or predictions, of the harmonic
            mean of precision and recall.
        standard_error: standard error of the accuracy, for sentences drawn at random; the words of
            a sentence are not independent.
    """

    accuracy: float
    macro_f1: float
    standard_error: float


def labels_of(labels: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the labels of each sentence without NONE."""
    return [numbers[numbers != NONE] for numbers in labels]


def measure(predicted: Sequence[np.ndarray], labels: Sequence[np.ndarray]) -> Measures:
    """Compare predictions with labels.

    Args:
        predicted: for each sentence, the predicted class of each label that is not NONE.
        labels: for each sentence, the numbers of the classes, NONE where there is no label.
    """
    gold = labels_of(labels)
    right = [p == g for p, g in zip(predicted, gold, strict=True)]
    sums = np.array([r.sum() for r in right], "float64")
    sizes = np.array([len(r) for r in right], "float64")
    accuracy = float(sums.sum() / sizes.sum())
    count = max(int((sizes > 0).sum()), 2)
    residuals = float(((sums - accuracy * sizes) ** 2).sum())
    error = math.sqrt(count / (count - 1) * residuals) / float(sizes.sum())
    return Measures(accuracy, _macro_f1(np.concatenate(predicted), np.concatenate(gold)), error)


def _macro_f1(predicted: np.ndarray, gold: np.ndarray) -> float:
    scores = []
    for number in np.union1d(predicted, gold):
        both = int(np.sum((predicted == number) & (gold == number)))
        scores.append(2 * both / int(np.sum(predicted == number) + np.sum(gold == number)))
    return float(np.mean(scores))
