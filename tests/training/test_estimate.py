"""The estimate of a training's time against the operations counted layer by layer."""

import numpy as np
import pytest

from t2t_phrase import registry
from t2t_phrase.training import estimate

SIZES = dict(hidden_size=8, filter_size=16, num_heads=2, num_hidden_layers=3, batch_size=1000)
VOCAB = 50


def test_operations_are_those_of_the_products():
    registry.discover()
    hparams = registry.hparams["transformer_tiny"]().replace(**SIZES, max_length=100)
    seconds = estimate.training_seconds(hparams, vocab_size=VOCAB, train_steps=7, rate=1e6)
    encoder, decoder = 4 * 8 * 8 + 2 * 8 * 16, 8 * 8 * 8 + 2 * 8 * 16
    products = 3 * (encoder + decoder) + VOCAB * 8
    expected = 6 * products * 900 * 7 / 1e6 / 0.5
    # Norms, biases and the table of target spaces are parameters that multiply little.
    assert expected < seconds < 1.5 * expected
    double = estimate.training_seconds(hparams, vocab_size=VOCAB, train_steps=14, rate=1e6)
    assert double == pytest.approx(2 * seconds)
    whole = hparams.replace(effective_batch_size=4000)
    assert estimate.training_seconds(
        whole, vocab_size=VOCAB, train_steps=7, rate=1e6
    ) == pytest.approx(4 * seconds)


def test_the_rate_is_that_of_products(monkeypatch):
    clock = iter(np.arange(0.0, 5.0, 0.25))
    monkeypatch.setattr(estimate.time, "perf_counter", lambda: next(clock))
    assert estimate.matrix_rate() == 2 * 1024**3 / 0.25
