"""The decoder stack, with and without input feeding, against loops of float64 arithmetic."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import reference_luong as reference
import tensorflow as tf
from random_weights import randomize

from t2t_phrase.layers.luong.general_score import GeneralScore
from t2t_phrase.layers.luong.global_attention import GlobalAttention
from t2t_phrase.layers.luong.input_feeding_decoder import InputFeedingDecoder
from t2t_phrase.layers.luong.local_monotonic_attention import LocalMonotonicAttention
from t2t_phrase.layers.luong.local_predictive_attention import LocalPredictiveAttention
from t2t_phrase.layers.luong.recurrent_decoder import RecurrentDecoder
from t2t_phrase.ops.masks import memory_mask

B, T, S, D, U, L = 2, 4, 6, 3, 4, 2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(B, T, D)).astype("float32")
MEMORY = RNG.normal(size=(B, S, U)).astype("float32")
LENGTHS = [6, 2]
MASK = np.asarray(memory_mask(np.arange(S) < np.array(LENGTHS)[:, None]))
STATE = tuple(RNG.normal(size=(B, U)).astype("float32") for _ in range(2 * L))
KINDS: dict[str, Any] = {
    "global": GlobalAttention,
    "local_m": LocalMonotonicAttention,
    "local_p": LocalPredictiveAttention,
}
DECODERS: dict[bool, Any] = {False: RecurrentDecoder, True: InputFeedingDecoder}


def make(
    feeding: bool, kind: str = "global", dtype: str = "float32", **options: Any
) -> RecurrentDecoder:
    score = GeneralScore(name="score", dtype=dtype)
    local = {} if kind == "global" else {"window": 1}
    attention = KINDS[kind](units=U, score=score, dtype=dtype, name="attention", **local)
    return DECODERS[feeding](
        units=U, num_layers=L, attention=attention, dtype=dtype, name="decoder", **options
    )


def built(feeding: bool, kind: str = "global", **options: Any) -> RecurrentDecoder:
    decoder = make(feeding, kind, **options)
    decoder.build((None, None, D), (None, None, U))
    randomize(decoder, deviation=0.6)
    return decoder


def by_loops(decoder: Any, values: Any, kind: str, feeding: bool, b: int) -> Any:
    """Return h~ and weights with `values` as the weights of the decoder."""
    named = {
        v.path.removeprefix("decoder/"): np.asarray(value, "float64")
        for v, value in zip(decoder.trainable_variables, values, strict=True)
    }

    def below(prefix: str) -> dict[str, np.ndarray]:
        return {k.removeprefix(prefix): v for k, v in named.items() if k.startswith(prefix)}

    return reference.decode(
        X[b].astype("float64"),
        MEMORY[b, : LENGTHS[b]].astype("float64"),
        [below(f"layer_{number}/") for number in range(L)],
        below("attention/"),
        state=[tuple(part[b].astype("float64") for part in STATE[2 * n :][:2]) for n in range(L)],
        feeding=feeding,
        kind="general",
        attention=kind,
        window=1,
    )


@pytest.mark.parametrize("feeding", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_loops_over_several_steps(kind: str, feeding: bool) -> None:
    decoder = built(feeding, kind)
    hidden, weights = decoder(X, MEMORY, MASK, initial_state=STATE)
    for b in range(B):
        expected, everywhere = by_loops(decoder, decoder.get_weights(), kind, feeding, b)
        np.testing.assert_allclose(hidden[b], expected, atol=1e-5)
        np.testing.assert_allclose(weights[b, 0, :, : LENGTHS[b]], everywhere, atol=1e-5)


@pytest.mark.parametrize(("feeding", "kind"), [(False, "global"), (True, "local_p")])
def test_the_gradient_is_that_of_the_loops(feeding: bool, kind: str) -> None:
    """Central differences of the float64 reference, in random directions."""
    decoder = built(feeding, kind)
    target = RNG.normal(size=(T, U))
    with tf.GradientTape() as tape:
        hidden, _ = decoder(X, MEMORY, MASK, initial_state=STATE)
        loss = tf.reduce_sum(hidden[1] * target.astype("float32"))
    gradients = tape.gradient(loss, [v.value for v in decoder.trainable_variables])
    weights = [value.astype("float64") for value in decoder.get_weights()]
    for _ in range(3):
        direction = [RNG.normal(size=value.shape) for value in weights]

        def moved(by: float, direction: Any = direction) -> float:
            values = [w + by * d for w, d in zip(weights, direction, strict=True)]
            return float(np.sum(by_loops(decoder, values, kind, feeding, 1)[0] * target))

        expected = (moved(1e-5) - moved(-1e-5)) / 2e-5
        actual = sum(np.sum(g * d) for g, d in zip(gradients, direction, strict=True))
        np.testing.assert_allclose(actual, expected, rtol=1e-3)


@pytest.mark.parametrize(("feeding", "kind"), [(False, "local_m"), (True, "local_m")])
def test_steps_of_beams_equal_the_whole(feeding: bool, kind: str) -> None:
    decoder = built(feeding, kind, dropout=0.5)
    expected, expected_weights = decoder(X, MEMORY, MASK, initial_state=STATE)
    shared = {
        "kernels": decoder.fused_kernels(),
        "projected": decoder.project_memory(MEMORY),
        "attention_mask": MASK,
    }
    state = decoder.start_state([np.stack([part, part], axis=1) for part in STATE])
    for t in range(T):
        x = np.stack([X[:, t], X[:, t]], axis=1)
        hidden, weights, state = decoder.step(x, state, t, **shared)
        for beam in range(2):
            np.testing.assert_allclose(hidden[:, beam], expected[:, t], atol=1e-5)
            np.testing.assert_allclose(weights[:, :, beam], expected_weights[:, :, t], atol=1e-5)


def test_without_attention_the_top_layer_is_the_output() -> None:
    decoder = RecurrentDecoder(units=U, num_layers=L)
    decoder.build((None, None, D))
    hidden, weights = decoder(X, MEMORY)
    assert weights is None and decoder.project_memory(MEMORY) == {}
    twin = built(False)
    twin.set_weights([*twin.attention.get_weights(), *decoder.get_weights()])
    both = [layer.get_weights() for layer in (decoder, twin)]
    assert len(both[1]) - len(both[0]) == 2
    query = X
    for layer in twin.layers:
        query, _ = layer(query)
    np.testing.assert_allclose(hidden, query, atol=1e-6)


@pytest.mark.parametrize("feeding", [pytest.param(False, marks=pytest.mark.slow), True])
def test_contract(check_layer: Callable, feeding: bool) -> None:
    layers = 4 * U * (D + U + 1) + 4 * U * (U + U + 1)
    fed = 4 * U * U if feeding else 0
    check_layer(
        lambda dtype: make(feeding, "global", dtype),
        [X, MEMORY],
        weights=layers + fed + U * U + 2 * U * U,
        options={"attention_mask": MASK},
    )


def test_feeding_draws_the_masks_of_every_layer_before_the_loop() -> None:
    """With known masks, the whole equals steps whose inputs are multiplied with them."""
    rate = 0.5
    decoder = make(True, dropout=rate)
    inputs = {}
    for number, layer in enumerate(decoder.layers):
        layer.input_dropout = Recorded(rate)
        inputs[number] = layer.input_dropout.drawn
    decoder.build((None, None, D), (None, None, U))
    randomize(decoder)
    hidden, _ = decoder(X, MEMORY, MASK, initial_state=STATE, training=True)
    # The embeddings and h~, both inputs of the lowest layer, have a mask each.
    assert [len(drawn) for drawn in inputs.values()] == [2, 1]
    projected = decoder.project_memory(MEMORY)
    state, fed = list(STATE), np.zeros((B, U), "float32")
    for t in range(T):
        embedded, masks = inputs[0][0][:, t], [inputs[0][1][:, t], inputs[1][0][:, t]]
        below = np.concatenate([X[:, t] * embedded, fed * masks[0]], axis=-1)
        for number, layer in enumerate(decoder.layers):
            below = below if number == 0 else below * masks[number]
            output, (h, c) = layer.step(below, tuple(state[2 * number : 2 * number + 2]))
            state[2 * number : 2 * number + 2] = [h, c]
            below = np.asarray(output)
        found, _ = decoder.attention.attend(below[:, None], projected, MASK)
        fed = np.asarray(found[:, 0])
        np.testing.assert_allclose(hidden[:, t], fed, atol=1e-5)


class Recorded(keras.layers.Layer):
    """Dropout that keeps its masks."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate, self.drawn = rate, []

    def call(self, x: Any, training: bool = False) -> Any:
        assert training
        self.drawn.append((RNG.random(x.shape) > self.rate).astype("float32") / (1 - self.rate))
        return x * self.drawn[-1]
