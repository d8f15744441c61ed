"""LSTMs side by side, one for each head."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.granularities.head_dense import HeadDense
from t2t_phrase.ops.bias import add_bias
from t2t_phrase.ops.recurrent import State, lstm_step, scan


@keras.saving.register_keras_serializable(package="t2t_phrase")
class HeadLSTM(keras.layers.Layer):
    """A long short-term memory for each head, each with its own weights, in one loop.

    The equations are those of `ops.recurrent.lstm_step`. As in `LSTM`, the bias of the forget gate
    starts at 1. States stay float32 under every dtype policy.

    Shapes: B batch, G heads, N time steps, W width of inputs and states.

    Args:
        num_heads: G.

    Call arguments:
        x: (B, G, N, W) float. A later time step has no effect on an earlier one, so padding may
            follow; its outputs are meaningless.
        continues: (B, G, N) bool, False where another sequence begins, before which the state is
            reset to zero. None: each row is one sequence.

    Returns:
        (B, G, N, W).

    Example:
        ```python
        lstm = t2t_phrase.layers.HeadLSTM(num_heads=4)
        x = keras.random.normal((2, 4, 7, 16))
        y = lstm(x)  # (2, 4, 7, 16)
        # Each row holds two sequences, the second of which begins at the fourth step.
        continues = ops.broadcast_to(ops.arange(7) != 3, (2, 4, 7))
        y = lstm(x, continues=continues)  # (2, 4, 7, 16)
        ```
    """

    def __init__(self, *, num_heads: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.num_heads = num_heads

    def build(self, x_shape: Any) -> None:
        """Create both kernels and the bias of every head."""
        width = x_shape[-1]
        units = self.gate_units(width)
        self.input_map = HeadDense(
            num_heads=self.num_heads, units=units, dtype=self.dtype_policy, name="input"
        )
        self.input_map.build((None, self.num_heads, None, width))
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel",
            shape=(self.num_heads, width, units),
            initializer=self._initial_recurrence,
        )
        self.bias = self.add_weight(
            name="bias", shape=(self.num_heads, units), initializer=self._initial_bias
        )
        self.built = True

    def gate_units(self, width: int) -> int:
        """Return the width of all gates together."""
        return 4 * width

    def _initial_recurrence(self, shape: Any, dtype: Any = None) -> Any:
        new = keras.initializers.Orthogonal
        return ops.stack([new()(shape[1:], dtype) for _ in range(shape[0])])

    def _initial_bias(self, shape: Any, dtype: Any = None) -> Any:
        """Return 1 for the forget gate, the second of the last four, and 0 for all others."""
        heads, units = shape
        width = self.recurrent_kernel.shape[1]
        unit = ops.arange(units)
        first = units - 3 * width
        forget = ops.logical_and(unit >= first, unit < first + width)
        # Not broadcast: variables of PyTorch need memory of their own.
        return ops.tile(ops.cast(forget, dtype)[None], (heads, 1))

    def call(self, x: Any, continues: Any | None = None) -> Any:
        """Read whole sequences."""
        rows = ops.transpose(self.project(x), (0, 2, 1, 3))  # (B, N, G, units)
        if continues is not None:
            continues = ops.transpose(continues, (0, 2, 1))
        return ops.transpose(self.read(rows, continues), (0, 2, 1, 3))

    def project(self, x: Any) -> Any:
        """Return the inputs' contribution to the gates, (B, G, N, units)."""
        return add_bias(self.input_map(x), ops.expand_dims(self.bias, 1))

    def read(self, projected: Any, continues: Any | None = None) -> Any:
        """Return the outputs (B, N, G, W) of projected sequences (B, N, G, units).

        Args:
            projected: from `project`, transposed.
            continues: (B, N, G) bool, see the class.
        """
        width = self.recurrent_kernel.shape[1]
        start = ops.zeros((ops.shape(projected)[0], self.num_heads, width))
        kernel = ops.cast(self.recurrent_kernel, self.compute_dtype)
        if continues is None:
            outputs, _ = scan(
                lambda inputs, state: self.step(inputs, state, kernel), projected, (start, start)
            )
            return ops.cast(outputs, self.compute_dtype)

        def step(inputs: Any, state: State) -> tuple[Any, State]:
            kept = ops.cast(inputs[..., -1:], "float32")
            return self.step(inputs[..., :-1], tuple(part * kept for part in state), kernel)

        # The loop takes a single tensor of inputs.
        flags = ops.cast(continues, projected.dtype)[..., None]
        joined = ops.concatenate([projected, flags], axis=-1)
        outputs, _ = scan(step, joined, (start, start))
        return ops.cast(outputs, self.compute_dtype)

    def step(self, projected: Any, state: State, kernel: Any) -> tuple[Any, State]:
        """Take one step, see `ops.recurrent`."""
        return lstm_step(projected, state, kernel)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "num_heads": self.num_heads}
