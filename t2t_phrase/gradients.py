"""Gradients of weights that a loop uses, taken once for all of its iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras

# Maps lists of tensors (taps or outputs, and constants) to a list of tensors.
Computation = Callable[[Sequence[Any], Sequence[Any]], list[Any]]


def late_gradient(
    run: Computation,
    replay: Computation,
    taps: Sequence[Any],
    constants: Sequence[Any],
    *,
    training: bool,
) -> list[Any]:
    """Return `run(taps, constants)`, whose gradient leaves the constants to `replay`.

    Differentiated as it stands, a loop that multiplies by a matrix W in every iteration adds up the
    gradient of W there: a thin product and a sum as large as W each time. Let the loop compute

        v_k = f_k(u_k, constants) + tap_k

    where u_k is anything that it knows at that point. Then the gradient with respect to the
    constants is the sum over k of that of f_k at u_k, applied to what is passed back to tap_k. So
    the loop is differentiated with respect to its taps alone, and f_k after it, for all iterations
    in one.

    JAX, and TensorFlow outside of a graph, differentiate `run` itself, with the same result.

    Args:
        run: the loop; returns its outputs, among them all u_k.
        replay: given these outputs, which it takes as fixed, and the constants, returns all
            f_k(u_k, constants), in the order of the taps that are added to them.
        taps: all that `run` is differentiated with respect to. The first ones are added to the
            values of `replay`; others, such as the initial state, may follow.
        constants: what `replay` is differentiated with respect to. `run` must depend on them in
            no other way than through f_k.
        training: whether to do so; else `run` is differentiated, if at all.
    """
    if not training or keras.backend.backend() != "tensorflow":
        return run(taps, constants)
    import tensorflow as tf

    if tf.executing_eagerly():
        # An eager `custom_gradient` records no tape.
        return run(taps, constants)
    number = len(taps)
    zero = tf.UnconnectedGradients.ZERO

    @tf.custom_gradient
    def late(*given: Any) -> Any:
        inputs, fixed = list(given[:number]), list(given[number:])
        with tf.GradientTape() as loop:
            loop.watch(inputs)
            outputs = run(inputs, fixed)

        def gradient(*passed: Any) -> list[Any]:
            found = loop.gradient(outputs, inputs, list(passed), unconnected_gradients=zero)
            with tf.GradientTape() as after:
                after.watch(fixed)
                values = replay(outputs, fixed)
            to_values = [
                tf.cast(gradient, value.dtype)
                for gradient, value in zip(found, values, strict=False)
            ]
            late = after.gradient(values, fixed, to_values, unconnected_gradients=zero)
            return [*found, *late]

        return outputs, gradient

    return list(late(*taps, *constants))
