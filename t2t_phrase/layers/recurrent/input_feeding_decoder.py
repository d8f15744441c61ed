"""A stack of LSTM layers that reads what it attended to at the time step before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.recurrent.feeding_loop import FeedingLoop
from t2t_phrase.layers.recurrent.recurrent_decoder import Cache, RecurrentDecoder
from t2t_phrase.ops.recurrent import State


@keras.saving.register_keras_serializable(package="t2t_phrase")
class InputFeedingDecoder(RecurrentDecoder):
    """`RecurrentDecoder` with input feeding: the lowest layer reads [x_t; h~_{t-1}].

    Luong et al. (2015), Section 3.3; h~ is zero before the first time step. So the attention is
    part of the recurrence, and a whole sentence is one loop over its time steps. The products of
    the inputs x with their weights, and all dropout masks, are made before the loop.

    The state has one more part, the last h~.

    Arguments and results are those of `RecurrentDecoder`; there must be an attention.
    """

    def input_widths(self, width: int) -> list[int]:
        """Return the width of the inputs of each layer; the lowest one reads h~, too."""
        return super().input_widths(width + self.units)

    def start_state(self, initial_state: Sequence[Any] | None, *shape: Any) -> State:
        """Return the state before the first time step, with zeros as h~."""
        state = super().start_state(initial_state, *shape)
        return (*state, ops.zeros_like(state[0]))

    def call(
        self,
        x: Any,
        memory: Any,
        attention_mask: Any | None = None,
        initial_state: Sequence[Any] | None = None,
        training: bool = False,
    ) -> tuple[Any, Any]:
        """Read whole sentences."""
        attention = self.attention
        assert attention is not None
        batch, length, width = ops.shape(x)[0], ops.shape(x)[1], x.shape[-1]
        projected = self.project_memory(memory)
        kernels = self.fused_kernels()
        zeros = ops.zeros((batch, length, 1), self.compute_dtype)
        gates = [zeros + ops.cast(ops.convert_to_tensor(v.bias), zeros.dtype) for v in self.layers]
        given = self.layers[0].input_dropout(ops.cast(x, self.compute_dtype), training=training)
        gates[0] = ops.matmul(given, kernels[0][:width]) + gates[0]
        masks: list[Any] = []
        if training and self.dropout > 0:
            ones = ops.ones((batch, length, self.units), self.compute_dtype)
            masks = [layer.input_dropout(ones, training=True) for layer in self.layers]
        loop = FeedingLoop(attention, attention_mask, self.compute_dtype, masks)
        # What the layers read within the loop: h~ of the step before, and the layer below.
        inner = [kernels[0][width:], *kernels[1:]]
        start = self.start_state(initial_state, batch)
        hidden, top = loop(gates, inner, projected, start, training=training)
        # Nobody but insights reads the weights, so they are no part of the loop.
        top = ops.cast(top, self.compute_dtype)
        _, weights = attention.attend(top, projected, attention_mask)
        return ops.cast(hidden, self.compute_dtype), weights

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
        """Read one time step of every beam; see `RecurrentDecoder`."""
        *states, fed = state
        both = [ops.cast(part, self.compute_dtype) for part in (x, fed)]
        x = ops.concatenate(both, axis=-1)
        hidden, weights, after = super().step(
            x,
            tuple(states),
            index,
            kernels=kernels,
            projected=projected,
            attention_mask=attention_mask,
        )
        return hidden, weights, (*after, ops.cast(hidden, "float32"))
