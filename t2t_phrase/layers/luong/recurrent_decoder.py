"""A stack of LSTM layers that attends to a memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.implicit_masks import ATTENTION, ImplicitMasks
from t2t_phrase.layers.common.sublayers import build_once, deserialize_sublayers
from t2t_phrase.layers.recurrent.lstm import LSTM
from t2t_phrase.ops.recurrent import State

Cache = dict[str, Any]


@keras.saving.register_keras_serializable(package="t2t_phrase")
class RecurrentDecoder(ImplicitMasks, keras.layers.Layer):
    """LSTM layers, and attention above them.

        h_t^l = LSTM_l(h_t^{l-1}),  h~_t = attention(h_t^L)

    with the inputs as h_t^0. Without attention, $h~_t = h_t^L$. Nothing within the stack depends on
    the attention, so it is computed for all time steps at once.

    A state is a flat tuple: h and c of the lowest layer, of the next one, and so on.

    Shapes: B batch, T time steps, D width of the inputs, U `units`, S memory positions, M width of
    the memory, K beams.

    Args:
        units: U, the width of every layer.
        num_layers: L.
        attention: a layer such as `GlobalAttention`; None: no attention.
        dropout: see `LSTM`; applied to the inputs of every layer.
        initial_range: see `LSTM`.

    Call arguments:
        x: (B, T, D) float.
        memory: (B, S, M) float; not read without attention.
        attention_mask: (B, 1, 1, S) bool; None: no padding.
        initial_state: 2 L tensors (B, U); None: zeros.
        training: whether dropout is active.
        alignment: (B, T) int, the memory position that each time step is aligned with, for an
            attention that reads it, such as `BiasedAttention`; None for any other.

    Returns:
        (hidden, weights): h~ (B, T, U), and (B, 1, T, S) float32 or, without attention, None.

    Example:
        ```python
        score = t2t_phrase.layers.DotScore()
        decoder = t2t_phrase.layers.RecurrentDecoder(
            units=32,
            num_layers=2,
            attention=t2t_phrase.layers.GlobalAttention(units=32, score=score),
        )
        x, memory = keras.random.normal((2, 5, 16)), keras.random.normal((2, 7, 32))
        mask = (ops.arange(7) < ops.array([[7], [4]]))[:, None, None]  # (2, 1, 1, 7)
        hidden, weights = decoder(x, memory, attention_mask=mask)  # (2, 5, 32), (2, 1, 5, 7)
        ```
    """

    implicit_masks = (("memory", ATTENTION),)

    def __init__(
        self,
        *,
        units: int,
        num_layers: int,
        attention: keras.layers.Layer | None = None,
        dropout: float = 0.0,
        initial_range: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{**kwargs, "autocast": False})
        self.supports_masking = True
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}.")
        self.units = units
        self.num_layers = num_layers
        self.attention = attention
        self.dropout = dropout
        self.initial_range = initial_range
        self.layers = [
            LSTM(
                units=units,
                dropout=dropout,
                initial_range=initial_range,
                dtype=self.dtype_policy,
                name=f"layer_{number}",
            )
            for number in range(num_layers)
        ]

    def build(self, x_shape: Any, memory_shape: Any = None) -> None:
        """Create the weights of all layers and of the attention."""
        for layer, width in zip(self.layers, self.input_widths(x_shape[-1]), strict=True):
            layer.build((None, None, width))
        if self.attention is not None:
            build_once(self.attention, (None, None, self.units), memory_shape)
        self.built = True

    def input_widths(self, width: int) -> list[int]:
        """Return the width of the inputs of each layer, given that of the stack's inputs."""
        return [width] + [self.units] * (self.num_layers - 1)

    def call(
        self,
        x: Any,
        memory: Any,
        attention_mask: Any | None = None,
        initial_state: Sequence[Any] | None = None,
        training: bool = False,
        alignment: Any | None = None,
    ) -> tuple[Any, Any]:
        """Read whole sentences."""
        top = self.top_states(x, memory, attention_mask, initial_state, training)
        if self.attention is None:
            return top, None
        return self.attention.attend(top, self.project_memory(memory, alignment), attention_mask)

    def top_states(
        self,
        x: Any,
        memory: Any,
        attention_mask: Any | None = None,
        initial_state: Sequence[Any] | None = None,
        training: bool = False,
    ) -> Any:
        """Return h^L (B, T, U), the queries of the attention; arguments are those of a call."""
        del memory, attention_mask
        state = self.start_state(initial_state, ops.shape(x)[0])
        for number, layer in enumerate(self.layers):
            own = tuple(state[2 * number : 2 * number + 2])
            x, _ = layer(x, initial_state=own, training=training)
        return x

    def start_state(self, initial_state: Sequence[Any] | None, *shape: Any) -> State:
        """Return the state before the first time step, each part (*shape, U) float32.

        Args:
            initial_state: the initial state of the LSTM layers; None: zeros.
            *shape: the axes before U, such as B, K.
        """
        if initial_state is None:
            return tuple(ops.zeros((*shape, self.units)) for _ in range(2 * self.num_layers))
        return tuple(initial_state)

    def project_memory(self, memory: Any, alignment: Any | None = None) -> Cache:
        """Return the attention's projection of a memory (B, S, M).

        Args:
            memory: float.
            alignment: see the class; for `step`, that of each beam, see `align`.
        """
        projected = {} if self.attention is None else self.attention.project_memory(memory)
        return projected if alignment is None else self.align(projected, alignment)

    def align(self, projected: Cache, alignment: Any) -> Cache:
        """Return the projected memory for queries that are aligned with known positions.

        Args:
            projected: from `project_memory`.
            alignment: (B, K) int, for the current token of every beam.
        """
        assert self.attention is not None
        aligned: Cache = self.attention.align(projected, alignment)
        return aligned

    def fused_kernels(self) -> list[Any]:
        """Return the kernels for `step`, which are the same at all time steps."""
        return [layer.fused_kernel() for layer in self.layers]

    def step(
        self,
        x: Any,
        state: State,
        index: Any,
        *,
        kernels: Sequence[Any],
        projected: Cache,
        attention_mask: Any,
    ) -> tuple[Any, Any, State]:
        """Read one time step of every beam.

        Args:
            x: (B, K, D).
            state: from `start_state` or `step`, each part (B, K, U).
            index: the current time.
            kernels: from `fused_kernels`, or the result of `kept` or `quantize` for each.
            projected: from `project_memory`.
            attention_mask: (B, 1, 1, S) bool.

        Returns:
            (hidden (B, K, U), weights (B, 1, K, S) or None, the next state).
        """
        states: list[Any] = []
        for number, (layer, kernel) in enumerate(zip(self.layers, kernels, strict=True)):
            x, after = layer.step(x, tuple(state[2 * number : 2 * number + 2]), kernel)
            states += after
        weights = None
        if self.attention is not None:
            x, weights, _ = self.attention.attend_step(x, {}, index, projected, attention_mask)
        return x, weights, tuple(states)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        attention = self.attention
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            "units": self.units,
            "num_layers": self.num_layers,
            "attention": None if attention is None else serialize(attention),
            "dropout": self.dropout,
            "initial_range": self.initial_range,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> RecurrentDecoder:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
