"""Recurrence over time: the loop, which takes any cell, and the step of an LSTM.

Shapes: B batch, T time steps, U units of a state, W width of a cell's inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from t2t_phrase.ops.product import product

# Tensors (B, U), each with its own U; or (B, G, U) for G cells side by side.
State = tuple[Any, ...]
# Maps the inputs of one time step, (B, W), and a state to an output (B, U) and the next state.
Cell = Callable[[Any, State], tuple[Any, State]]


def scan(
    cell: Cell, inputs: Any, state: State, *, mask: Any | None = None, reverse: bool = False
) -> tuple[Any, State]:
    """Run a cell over the time steps of a batch of sequences.

    A padding step keeps the state of its sequence, and its output is zero; so a sequence that is
    read in reverse starts from its last real step. The cell must not draw random numbers: draw
    dropout masks before, and pass them with the inputs or let the cell close over them.

    Args:
        cell: one step. It may close over tensors, such as weights.
        inputs: (B, T, W), at least one step; any further axes may follow T.
        state: the initial state of every sequence; float32.
        mask: (B, T) bool, True at real steps. None: no padding.
        reverse: whether to go from the last step to the first.

    Returns:
        (outputs (B, T, U) float32 in the order of `inputs`, state after the last step taken).
    """
    # Keras' RNN tells XLA the number of iterations, without which XLA cannot differentiate a loop
    # on TensorFlow; `ops.scan` does not.
    loop = keras.layers.RNN(
        _KerasCell(cell, state),
        return_sequences=True,
        return_state=True,
        go_backwards=reverse,
        zero_output_for_mask=True,
        autocast=False,
        dtype="float32",
        name="scan",
    )
    # Called as a layer, it would attach the mask to the outputs, and warn wherever they are used.
    outputs, *state_after = loop.call(inputs, initial_state=list(state), mask=mask)
    return ops.flip(outputs, axis=1) if reverse else outputs, tuple(state_after)


class _KerasCell:
    """A cell in the form that `keras.layers.RNN` expects."""

    compute_dtype = "float32"  # of the states

    def __init__(self, cell: Cell, state: State) -> None:
        self.cell = cell
        self.state_size = [part.shape[-1] for part in state]

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        output, state = self.cell(inputs, tuple(states))
        return output, list(state)

    call = __call__


def lstm_step(
    projected: Any, state: State, kernel: Any, recurrent_mask: Any | None = None
) -> tuple[Any, State]:
    """Take one step of a long short-term memory without peepholes.

        (i, f, g, o) = x_t W + b + h_{t-1} U
        c_t = sigmoid(f) * c_{t-1} + sigmoid(i) * tanh(g)
        h_t = sigmoid(o) * tanh(c_t)

    Hochreiter and Schmidhuber (1997), with the forget gate of Gers et al. (2000). Everything but
    the matrix product runs in float32.

    Args:
        projected: (..., 4U), $x_t W + b$: input gate, forget gate, candidate, output gate.
        state: (h (..., U), c (..., U)) float32.
        kernel: the matrix U above, (U, 4U), or the result of `operand` for it; or (G, U, 4U) for G
            cells side by side, whose state is (B, G, U).
        recurrent_mask: dropout mask, broadcastable to (..., U), that multiplies h_{t-1}.

    Returns:
        (h_t, (h_t, c_t)).
    """
    h, c = state
    if recurrent_mask is not None:
        h = h * recurrent_mask
    return _lstm_update(ops.cast(projected, "float32") + recurrent_product(h, kernel), c)


def fused_lstm_step(x: Any, state: State, kernel: Any, projected: Any) -> tuple[Any, State]:
    """Take one step as `lstm_step` does, with a single product for inputs and state.

        (i, f, g, o) = [x_t; h_{t-1}] K + p_t

    It is for inputs that are known only within the loop, such as the outputs of a layer below.

    Args:
        x: (..., D).
        state: (h (..., U), c (..., U)) float32.
        kernel: K, (D + U, 4U): the matrix of the inputs above that of the state, or the result of
            `kept` or `quantize` for it.
        projected: p_t, broadcastable to (..., 4U): the bias, and any other terms computed before.

    Returns:
        (h_t, (h_t, c_t)).
    """
    h, c = state
    both = ops.concatenate([ops.cast(x, kernel.dtype), ops.cast(h, kernel.dtype)], axis=-1)
    gates = ops.cast(product(both, kernel), "float32") + ops.cast(projected, "float32")
    return _lstm_update(gates, c)


def _lstm_update(gates: Any, c: Any) -> tuple[Any, State]:
    """Return h_t, and (h_t, c_t), from the gates before their sigmoids and c_{t-1}."""
    i, f, g, o = ops.split(gates, 4, axis=-1)
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    h = ops.sigmoid(o) * ops.tanh(c)
    return h, (h, c)


def recurrent_product(h: Any, kernel: Any) -> Any:
    """Return h U in float32, computed in the type of the kernel."""
    h = ops.cast(h, kernel.dtype)
    if len(kernel.shape) == 2:
        return ops.cast(product(h, kernel), "float32")
    # With an ellipsis for B, Keras would multiply and sum, which is many times slower.
    return ops.cast(ops.einsum("bgu,guv->bgv", h, kernel), "float32")
