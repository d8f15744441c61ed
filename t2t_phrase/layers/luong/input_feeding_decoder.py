"""A stack of LSTM layers that reads the attentional vector of the previous time step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.luong.recurrent_decoder import Cache, RecurrentDecoder
from t2t_phrase.ops.bias import add_bias
from t2t_phrase.ops.recurrent import State, fused_lstm_step, scan


@keras.saving.register_keras_serializable(package="t2t_phrase")
class InputFeedingDecoder(RecurrentDecoder):
    """`RecurrentDecoder` with input feeding: the lowest layer reads $[x_t; h~_{t-1}]$.

    Luong et al. (2015), Section 3.3; h~ is zero before the first time step. So the attention is
    part of the recurrence, and a whole sentence is one loop over its time steps. The products of
    the inputs x with their weights, and all dropout masks, are computed before the loop.

    The state has one more part, the last h~.

    Arguments and results are those of `RecurrentDecoder`; `attention` must not be None.

    Example:
        ```python
        attention = t2t_phrase.layers.GlobalAttention(units=32, score=t2t_phrase.layers.DotScore())
        decoder = t2t_phrase.layers.InputFeedingDecoder(units=32, num_layers=2, attention=attention)
        x, memory = keras.random.normal((2, 5, 16)), keras.random.normal((2, 7, 32))
        mask = (ops.arange(7) < ops.array([[7], [4]]))[:, None, None]
        hidden, weights = decoder(x, memory, attention_mask=mask)  # (2, 5, 32), (2, 1, 5, 7)
        # Token by token, with the same results.
        kernels, projected = decoder.fused_kernels(), decoder.project_memory(memory)
        state = decoder.start_state(None, 2, 1)
        for i in range(5):
            hidden, weights, state = decoder.step(
                x[:, i : i + 1], state, i, kernels=kernels, projected=projected, attention_mask=mask
            )  # (2, 1, 32), (2, 1, 1, 7), ...
        ```
    """

    def input_widths(self, width: int) -> list[int]:
        """Return the width of the inputs of each layer; the lowest layer reads h~, too."""
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
        alignment: Any | None = None,
    ) -> tuple[Any, Any]:
        """Read whole sentences."""
        hidden, top, projected = self._read(
            x, memory, attention_mask, initial_state, training, alignment
        )
        # Only `insights` reads the weights, so they are not part of the loop.
        assert self.attention is not None
        _, weights = self.attention.attend(top, projected, attention_mask)
        return hidden, weights

    def top_states(
        self,
        x: Any,
        memory: Any,
        attention_mask: Any | None = None,
        initial_state: Sequence[Any] | None = None,
        training: bool = False,
    ) -> Any:
        """Return h^L (B, T, U), the queries of the attention; arguments are those of a call."""
        return self._read(x, memory, attention_mask, initial_state, training)[1]

    def _read(
        self,
        x: Any,
        memory: Any,
        attention_mask: Any | None,
        initial_state: Sequence[Any] | None,
        training: bool,
        alignment: Any | None = None,
    ) -> tuple[Any, Any, Cache]:
        """Return h~, h^L, and the memory as projected for the attention."""
        attention = self.attention
        assert attention is not None
        batch, length, width = ops.shape(x)[0], ops.shape(x)[1], x.shape[-1]
        projected = self.project_memory(memory, alignment)
        lowest = self.layers[0]
        kernels = self.fused_kernels()
        biases = [ops.convert_to_tensor(layer.bias) for layer in self.layers]
        given = lowest.input_dropout(ops.cast(x, self.compute_dtype), training=training)
        inputs = [add_bias(ops.matmul(given, kernels[0][:width]), biases[0])]
        # Kernels of the inputs within the loop: h~ of the previous step, and the layer below.
        kernels = [kernels[0][width:], *kernels[1:]]
        drops = training and self.dropout > 0
        if drops:
            ones = ops.ones((batch, length, self.units), self.compute_dtype)
            inputs += [layer.input_dropout(ones, training=True) for layer in self.layers]
        sizes = [4 * self.units] + [self.units] * (len(inputs) - 1)
        places = [sum(sizes[:end]) for end in range(1, len(sizes))]

        def cell(inputs: Any, state: State) -> tuple[Any, State]:
            *states, fed, time = state
            given, *masks = ops.split(inputs, places, axis=-1) if drops else [inputs]
            after: list[Any] = []
            below = fed
            for number, kernel in enumerate(kernels):
                if drops:
                    below = ops.cast(below, masks[number].dtype) * masks[number]
                own = tuple(states[2 * number : 2 * number + 2])
                share = biases[number] if number else given
                below, own = fused_lstm_step(below, own, kernel, share)
                after += own
            index = ops.cast(time[0, 0], "int32")
            now = attention.at_time(projected, index)
            hidden, _, _ = attention.attend_step(below[:, None], {}, index, now, attention_mask)
            fed = ops.cast(hidden[:, 0], "float32")
            return ops.concatenate([fed, below], axis=-1), (*after, fed, time + 1)

        start = (*self.start_state(initial_state, batch), ops.zeros((batch, 1)))
        outputs, _ = scan(cell, ops.concatenate(inputs, axis=-1), start)
        hidden, top = ops.split(ops.cast(outputs, self.compute_dtype), 2, axis=-1)
        return hidden, top, projected

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
