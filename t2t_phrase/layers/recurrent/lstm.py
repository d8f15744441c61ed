"""The long short-term memory."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.implicit_masks import ImplicitMasks, MaskArgument
from t2t_phrase.layers.common.initializers import kernel_initializer, uniform
from t2t_phrase.ops.bias import add_bias
from t2t_phrase.ops.product import operand, product
from t2t_phrase.ops.recurrent import State, fused_lstm_step, lstm_step, scan


@keras.saving.register_keras_serializable(package="t2t_phrase")
class LSTM(ImplicitMasks, keras.layers.Layer):
    """A long short-term memory over a sequence, see `ops.recurrent.lstm_step` for its equations.

    Unless `initial_range` is given, the bias of the forget gate starts at 1, all others at 0.
    Dropout masks are drawn before the loop over time.

    Shapes: B batch, T time steps, D width of the inputs, U `units`, K beams.

    Args:
        units: U.
        dropout: probability of dropping an element of the inputs, drawn at every time step, in
            [0, 1): Zaremba et al. (2014), Section 3, for one layer, as Luong et al. (2015) use it.
        recurrent_dropout: probability of dropping an element of h_{t-1} on its way to the gates,
            in [0, 1); one mask for all time steps of a sequence: Gal and Ghahramani (2016).
        go_backwards: whether to read from the last time step to the first.
        initial_range: if positive, all weights start uniformly distributed in +-`initial_range`.

    Call arguments:
        x: (B, T, D) float.
        mask: (B, T) bool, True at real time steps; the others keep the state. None: no padding.
        initial_state: (h (B, U), c (B, U)); None: zeros.
        training: whether dropout is active.

    Returns:
        (outputs, (h, c)): (B, T, U), zero at padding, in the order of `x` even if `go_backwards`;
        and the float32 state after the last step taken, (B, U) each.

    Example:
        ```python
        lstm = t2t_phrase.layers.LSTM(units=32)
        x = keras.random.normal((2, 7, 16))
        mask = ops.arange(7) < ops.array([[7], [4]])  # (2, 7)
        outputs, (h, c) = lstm(x, mask=mask)  # (2, 7, 32), ((2, 32), (2, 32))
        output, (h, c) = lstm.step(x[:, 0], (h, c))  # (2, 32), ((2, 32), (2, 32))
        ```
    """

    implicit_masks = (("x", MaskArgument("mask", 2)),)

    def __init__(
        self,
        *,
        units: int,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        go_backwards: bool = False,
        initial_range: float = 0.0,
        **kwargs: Any,
    ) -> None:
        # The state stays float32 under every dtype policy, so Keras must not cast the arguments.
        super().__init__(**{**kwargs, "autocast": False})
        self.supports_masking = True
        self.units = units
        self.dropout = dropout
        self.recurrent_dropout = recurrent_dropout
        self.go_backwards = go_backwards
        self.initial_range = initial_range
        self.input_dropout = Dropout(dropout, dtype=self.dtype_policy)
        self.state_dropout = Dropout(recurrent_dropout, dtype="float32")

    def build(self, x_shape: Any) -> None:
        """Create both kernels and the bias."""
        spread = self.initial_range
        self.kernel = self.add_weight(
            name="kernel",
            shape=(x_shape[-1], 4 * self.units),
            initializer=uniform(spread) or kernel_initializer(),
        )
        self.recurrent_kernel = self.add_weight(
            name="recurrent_kernel",
            shape=(self.units, 4 * self.units),
            initializer=uniform(spread) or "orthogonal",
        )
        self.bias = self.add_weight(
            name="bias",
            shape=(4 * self.units,),
            initializer=uniform(spread) or self._initial_bias,
            # Each step adds to its gradient, so it is read in float32.
            autocast=False,
        )
        self.built = True

    def _initial_bias(self, shape: Any, dtype: Any = None) -> Any:
        return ops.cast(ops.arange(shape[0]) // self.units == 1, dtype)

    def call(
        self,
        x: Any,
        mask: Any | None = None,
        initial_state: State | None = None,
        training: bool = False,
    ) -> tuple[Any, State]:
        """Read whole sequences."""
        batch = ops.shape(x)[0]
        state = self.start_state(batch) if initial_state is None else initial_state
        kernel = operand(self.recurrent_kernel, self.compute_dtype)
        state_mask = None
        if self.recurrent_dropout and training:
            state_mask = self.state_dropout(ops.ones((batch, self.units)), training=True)
        outputs, state = scan(
            lambda projected, state: lstm_step(projected, state, kernel, state_mask),
            self.project(x, training=training),
            state,
            mask=mask,
            reverse=self.go_backwards,
        )
        return ops.cast(outputs, self.compute_dtype), state

    def step(self, x: Any, state: State, kernel: Any | None = None) -> tuple[Any, State]:
        """Read one time step of every sequence, without dropout.

        Args:
            x: (..., D), such as (B, K, D).
            state: (h (..., U), c (..., U)), from `start_state`, `step` or a call.
            kernel: from `fused_kernel`, or the result of `kept` or `quantize` for it; None:
                computed here.

        Returns:
            (output (..., U), the next state).
        """
        kernel = self.fused_kernel() if kernel is None else kernel
        output, state = fused_lstm_step(x, state, kernel, self.bias)
        return ops.cast(output, self.compute_dtype), state

    def fused_kernel(self) -> Any:
        """Return (D + U, 4U): the matrix that maps inputs and state to the gates in one product."""
        return ops.concatenate([self._cast(self.kernel), self._cast(self.recurrent_kernel)], axis=0)

    def project(self, x: Any, training: bool = False) -> Any:
        """Return (..., 4U): the contribution of the inputs (..., D) to the gates, with the bias.

        Args:
            x: (..., D).
            training: whether dropout is active.
        """
        x = self.input_dropout(x, training=training)
        return add_bias(product(self._cast(x), self.kernel), self.bias)

    def start_state(self, *shape: Any) -> State:
        """Return zeros: h and c, each (*shape, U) float32."""
        return ops.zeros((*shape, self.units)), ops.zeros((*shape, self.units))

    def _cast(self, x: Any) -> Any:
        return ops.cast(ops.convert_to_tensor(x), self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "units": self.units,
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            "go_backwards": self.go_backwards,
            "initial_range": self.initial_range,
        }
