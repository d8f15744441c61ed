"""One step of an ordered-neurons LSTM."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.recurrent import State, recurrent_product


def on_lstm_step(
    projected: Any, state: State, kernel: Any, *, chunk_size: int
) -> tuple[Any, State]:
    """Take one step of an ordered-neurons LSTM.

        (f~', i~', i, f, g, o) = x_t W + b + h_{t-1} U
        f~ = cumax(f~'),  i~ = 1 - cumax(i~'),  w = f~ * i~
        f^ = sigmoid(f) * w + (f~ - w),  i^ = sigmoid(i) * w + (i~ - w)
        c_t = f^ * c_{t-1} + i^ * tanh(g)
        h_t = sigmoid(o) * tanh(c_t)

    Shen et al. (2019), Eq. (1) to (14), where cumax is the cumulative sum of the softmax. Each of
    the U / C values of a master gate, f~ and i~, stands for C neighbouring units. Everything but
    the matrix product runs in float32.

    Args:
        projected: (..., 2U/C + 4U), $x_t W + b$: both master gates, then the gates of
            `ops.recurrent.lstm_step`.
        state: (h (..., U), c (..., U)) float32.
        kernel: (U, 2U/C + 4U), or (G, U, 2U/C + 4U), see `ops.recurrent.lstm_step`.
        chunk_size: C, a divisor of U.

    Returns:
        (h_t, (h_t, c_t)).
    """
    h, c = state
    chunks = c.shape[-1] // chunk_size
    gates = ops.cast(projected, "float32") + recurrent_product(h, kernel)
    forget, write, rest = ops.split(gates, [chunks, 2 * chunks], axis=-1)
    forget = _spread(ops.cumsum(ops.softmax(forget), axis=-1), chunk_size)
    write = _spread(1 - ops.cumsum(ops.softmax(write), axis=-1), chunk_size)
    both = forget * write
    i, f, g, o = ops.split(rest, 4, axis=-1)
    kept = ops.sigmoid(f) * both + (forget - both)
    new = ops.sigmoid(i) * both + (write - both)
    c = kept * c + new * ops.tanh(g)
    h = ops.sigmoid(o) * ops.tanh(c)
    return h, (h, c)


def _spread(x: Any, times: int) -> Any:
    """Return `x` with every value repeated `times` times along the last axis."""
    # XLA cannot differentiate `ops.repeat` within a loop.
    stacked = ops.stack([x] * times, axis=-1)
    return ops.reshape(stacked, (*ops.shape(x)[:-1], x.shape[-1] * times))
