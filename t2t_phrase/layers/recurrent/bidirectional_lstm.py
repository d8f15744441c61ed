"""Two LSTMs that read a sequence from opposite ends."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.implicit_masks import ImplicitMasks, MaskArgument
from t2t_phrase.layers.recurrent.lstm import LSTM
from t2t_phrase.ops.recurrent import State


@keras.saving.register_keras_serializable(package="t2t_phrase")
class BidirectionalLSTM(ImplicitMasks, keras.layers.Layer):
    """Two LSTMs of half the size, one in each direction, concatenated.

        output_t = [forwards_t; backwards_t]

    The state concatenates the last states of both: after the last and after the first time step.
    So outputs and states are as wide as those of one `LSTM` with the same `units`.

    Shapes: B batch, T time steps, D width of the inputs, U `units`.

    Args:
        units: U, even.
        dropout: as in `LSTM`; each direction drops different elements.
        initial_range: as in `LSTM`.

    Call arguments:
        x: (B, T, D) float.
        mask: (B, T) bool, True at real time steps; None: no padding.
        training: whether dropout is active.

    Returns:
        (outputs (B, T, U), zero at padding; (h, c), each (B, U) float32).

    Raises:
        ValueError: `units` is odd.

    Example:
        ```python
        ids = keras.Input((None,), dtype="int32")
        x = keras.layers.Embedding(100, 16, mask_zero=True)(ids)  # (None, None, 16)
        encoder = t2t_phrase.layers.BidirectionalLSTM(units=32, dropout=0.2)
        outputs, (h, c) = encoder(x)  # (None, None, 32), ((None, 32), (None, 32))
        ```
    """

    implicit_masks = (("x", MaskArgument("mask", 2)),)

    def __init__(
        self, *, units: int, dropout: float = 0.0, initial_range: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**{**kwargs, "autocast": False})
        self.supports_masking = True
        if units % 2:
            raise ValueError(f"units must be even for two directions, got {units}.")
        self.units = units
        self.dropout = dropout
        self.initial_range = initial_range
        shared: dict[str, Any] = {
            "units": units // 2,
            "dropout": dropout,
            "initial_range": initial_range,
            "dtype": self.dtype_policy,
        }
        self.forwards = LSTM(name="forwards", **shared)
        self.backwards = LSTM(name="backwards", go_backwards=True, **shared)

    def build(self, x_shape: Any) -> None:
        """Create the weights of both directions."""
        self.forwards.build(x_shape)
        self.backwards.build(x_shape)
        self.built = True

    def call(self, x: Any, mask: Any | None = None, training: bool = False) -> tuple[Any, State]:
        """Read whole sequences."""
        outputs, states = zip(
            *(layer(x, mask=mask, training=training) for layer in (self.forwards, self.backwards)),
            strict=True,
        )
        h, c = (ops.concatenate(parts, axis=-1) for parts in zip(*states, strict=True))
        return ops.concatenate(outputs, axis=-1), (h, c)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "units": self.units,
            "dropout": self.dropout,
            "initial_range": self.initial_range,
        }
