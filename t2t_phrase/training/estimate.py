"""An estimate of the training time, before training begins."""

from __future__ import annotations

import time

import numpy as np

from t2t_phrase.models.parameter_count import count_parameters
from t2t_phrase.training_hparams import TrainingHParams

# Shares measured on CPUs: the share of the rate of large products that training reaches, and the
# share of the positions of a batch that are not padding.
_UTILISATION = 0.5
_REAL = 0.9
_SIZE = 1024  # of the matrices


def matrix_rate() -> float:
    """Return operations per second of float32 matrix products on the CPU, the best of 5."""
    a = np.ones((_SIZE, _SIZE), np.float32)
    out = np.empty_like(a)
    np.matmul(a, a, out=out)
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        np.matmul(a, a, out=out)
        seconds.append(time.perf_counter() - start)
    return 2 * _SIZE**3 / min(seconds)


def training_seconds(
    hparams: TrainingHParams, *, vocab_size: int, train_steps: int, rate: float
) -> float:
    """Return an estimate of the training time in seconds, without evaluations.

    Each parameter takes six operations for each pair of a source and a target token: a product and
    a sum forwards, and twice as many backwards. The estimate is right within a factor of two.

    Args:
        hparams: the set.
        vocab_size: entries of the joint vocabulary.
        train_steps: number of updates.
        rate: from `matrix_rate`.
    """
    tokens = (hparams.effective_batch_size or hparams.batch_size) * _REAL
    operations = 6 * count_parameters(hparams, vocab_size=vocab_size) * tokens * train_steps
    return operations / (rate * _UTILISATION)
