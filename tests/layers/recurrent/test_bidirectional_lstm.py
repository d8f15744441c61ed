"""An LSTM in both directions against loops of float64 arithmetic."""

from collections.abc import Callable

import numpy as np
import pytest
import reference_lstm as reference
from random_weights import randomize

from t2t_phrase.layers.recurrent.bidirectional_lstm import BidirectionalLSTM

B, T, D, U = 3, 5, 3, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(B, T, D)).astype("float32")
LENGTHS = [5, 1, 3]
MASK = np.arange(T) < np.array(LENGTHS)[:, None]


def test_equals_loops_within_the_true_length() -> None:
    layer = BidirectionalLSTM(units=U)
    layer.build((None, None, D))
    randomize(layer)
    outputs, state = layer(X, MASK)
    for b, length in enumerate(LENGTHS):
        halves, ends = [], []
        for part, reverse in ((layer.forwards, False), (layer.backwards, True)):
            weights = {v.name: np.asarray(v, "float64") for v in part.trainable_variables}
            half, end = reference.run(X[b, :length], weights, reverse=reverse)
            halves.append(half)
            ends.append(end)
        expected = np.concatenate(halves, axis=-1)
        np.testing.assert_allclose(outputs[b, :length], expected, atol=1e-6)
        assert not np.any(outputs[b, length:])
        for part, (forwards, backwards) in zip(state, zip(*ends, strict=True), strict=True):
            np.testing.assert_allclose(part[b], [*forwards, *backwards], atol=1e-6)


def test_without_a_mask_all_steps_are_real() -> None:
    layer = BidirectionalLSTM(units=U)
    found, expected = layer(X)[0], layer(X, np.ones((B, T), bool))[0]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.slow
def test_contract(check_layer: Callable) -> None:
    check_layer(
        lambda dtype: BidirectionalLSTM(units=U, dtype=dtype),
        [X, MASK],
        weights=2 * 4 * (U // 2) * (D + U // 2 + 1),
    )


def test_directions_drop_different_elements() -> None:
    layer = BidirectionalLSTM(units=U, dropout=0.5)
    masks = [
        np.asarray(part.input_dropout(np.ones((20, T, D), "float32"), training=True))
        for part in (layer.forwards, layer.backwards)
    ]
    assert (masks[0] != masks[1]).any()


def test_an_odd_number_of_units() -> None:
    with pytest.raises(ValueError, match="units must be even for two directions, got 3"):
        BidirectionalLSTM(units=3)
