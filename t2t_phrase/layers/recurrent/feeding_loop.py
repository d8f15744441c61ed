"""The loop of a decoder with input feeding."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from t2t_phrase.gradients import late_gradient
from t2t_phrase.ops.recurrent import State, lstm_update, scan


@dataclasses.dataclass(frozen=True)
class FeedingLoop:
    """LSTM layers and attention over the time steps of whole sentences.

    Gradients of weights and memory are those of products and of an attention over all time steps,
    taken after the loop, see `late_gradient`.

    Shapes are those of `RecurrentDecoder`.

    Args:
        attention: such as `GlobalAttention`.
        attention_mask: (B, 1, 1, S) bool; None: no padding.
        dtype: of products.
        masks: dropout masks (B, T, U) of what each layer reads of h~ or of the layer below; none:
            no dropout.
    """

    attention: keras.layers.Layer
    attention_mask: Any | None
    dtype: str
    masks: Sequence[Any]

    def __call__(
        self,
        gates: Sequence[Any],
        kernels: Sequence[Any],
        projected: dict[str, Any],
        start: State,
        *,
        training: bool,
    ) -> tuple[Any, Any]:
        """Return h~ and the outputs of the top layer, each (B, T, U) float32.

        Args:
            gates: what the gates of each layer are given from outside the loop, (B, T, 4U).
            kernels: of what each layer reads within the loop: h~ or the layer below, above its own
                state; (2U, 4U).
            projected: what `attention` reads of the memory.
            start: h and c of each layer, then h~, each (B, U) float32.
            training: whether gradients are wanted.
        """
        layers, names = len(kernels), list(projected)
        variables = self.attention.trainable_variables

        def split(constants: Sequence[Any]) -> tuple[Sequence[Any], Any, dict[str, Any]]:
            memory, values = constants[layers:][: len(names)], constants[layers + len(names) :]
            scope = keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True)))
            return constants[:layers], scope, dict(zip(names, memory, strict=True))

        def run(taps: Sequence[Any], constants: Sequence[Any]) -> list[Any]:
            streams, state = taps[: layers + 1], tuple(taps[layers + 1 :])
            kernels, scope, projected = split(constants)
            with scope:
                return self._run(streams, kernels, projected, state)

        def replay(outputs: Sequence[Any], constants: Sequence[Any]) -> list[Any]:
            kernels, scope, projected = split(constants)
            _, top, *reads = [ops.cast(part, self.dtype) for part in outputs]
            products = zip(reads, kernels, strict=True)
            with scope:
                hidden, _ = self.attention.attend(top, projected, self.attention_mask)
            return [*(ops.matmul(read, kernel) for read, kernel in products), hidden]

        # What is added to h~; its gradient is all that is known of h~ in `replay`.
        nothing = ops.zeros_like(gates[0][..., : start[-1].shape[-1]])
        values = [ops.convert_to_tensor(variable) for variable in variables]
        hidden, top, *_ = late_gradient(
            run,
            replay,
            [*gates, nothing, *start],
            [*kernels, *projected.values(), *values],
            training=training,
        )
        return hidden, top

    def _run(
        self, streams: Sequence[Any], kernels: Sequence[Any], projected: Any, start: State
    ) -> list[Any]:
        """Return h~, the outputs of the top layer and what each kernel was multiplied by."""
        layers = len(kernels)
        inputs = [*streams, *self.masks]
        ends = _ends(inputs)

        def cell(inputs: Any, state: State) -> tuple[Any, State]:
            *states, fed, time = state
            *gates, nothing = (parts := ops.split(inputs, ends, axis=-1))[: layers + 1]
            masks = parts[layers + 1 :]
            after: list[Any] = []
            reads: list[Any] = []
            below = fed
            for number, kernel in enumerate(kernels):
                if masks:
                    below = ops.cast(below, self.dtype) * masks[number]
                h, c = states[2 * number : 2 * number + 2]
                both = [ops.cast(part, self.dtype) for part in (below, h)]
                reads.append(ops.concatenate(both, axis=-1))
                product = ops.cast(ops.matmul(reads[-1], kernel), "float32")
                below, own = lstm_update(product + ops.cast(gates[number], "float32"), c)
                after += own
            index = ops.cast(time[0, 0], "int32")
            hidden, _, _ = self.attention.attend_step(
                below[:, None], {}, index, projected, self.attention_mask
            )
            fed = ops.cast(hidden[:, 0] + nothing, "float32")
            outputs = [fed, below, *(ops.cast(read, "float32") for read in reads)]
            return ops.concatenate(outputs, axis=-1), (*after, fed, time + 1)

        time = ops.zeros_like(start[0][:, :1])
        found, _ = scan(cell, ops.concatenate(inputs, axis=-1), (*start, time))
        units = start[0].shape[-1]
        sizes = [units, units, *(kernel.shape[0] for kernel in kernels)]
        return list(ops.split(found, list(itertools.accumulate(sizes))[:-1], axis=-1))


def _ends(parts: Sequence[Any]) -> list[int]:
    """Return where all parts but the last one end, once they are side by side."""
    return list(itertools.accumulate(part.shape[-1] for part in parts))[:-1]
