"""Ordered-neurons LSTMs side by side, one for each head."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.granularities.head_lstm import HeadLSTM
from t2t_phrase.layers.granularities.on_lstm_step import on_lstm_step
from t2t_phrase.ops.recurrent import State


@keras.saving.register_keras_serializable(package="t2t_phrase")
class HeadONLSTM(HeadLSTM):
    """An ordered-neurons LSTM for each head.

    Shen et al. (2019); the equations are those of `on_lstm_step.on_lstm_step`.

    Args:
        chunk_size: number of neighbouring units that share a value of the master gates; W consists
            of 2, 3, ... such chunks.
        **kwargs: as for `HeadLSTM`, with the same call arguments and results.

    Raises:
        ValueError: when built, if W is not `chunk_size` times 2, 3, ...

    Example:
        ```python
        lstm = t2t_phrase.layers.HeadONLSTM(num_heads=4, chunk_size=8)
        y = lstm(keras.random.normal((2, 4, 7, 16)))  # (2, 4, 7, 16)
        ```
    """

    def __init__(self, *, chunk_size: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if chunk_size < 1:
            raise ValueError(f"chunk_size must be at least 1, got {chunk_size}.")
        self.chunk_size = chunk_size

    def gate_units(self, width: int) -> int:
        """Return the width of all gates together."""
        # The last chunk is never written: its master input gate is 1 - 1.
        if width % self.chunk_size or width == self.chunk_size:
            raise ValueError(
                "the width of a head must be a multiple of chunk_size and at least twice as "
                f"large, got {width} and {self.chunk_size}."
            )
        return 2 * (width // self.chunk_size) + 4 * width

    def step(self, projected: Any, state: State, kernel: Any) -> tuple[Any, State]:
        """Take one step, see `ops.recurrent`."""
        return on_lstm_step(projected, state, kernel, chunk_size=self.chunk_size)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "chunk_size": self.chunk_size}
