"""Muon for kernels of any number of axes."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops


class KernelMuon(keras.optimizers.Muon):
    """`keras.optimizers.Muon` that takes kernels of convolutions and of attention heads, too.

    Keras leaves everything that is not a matrix to Adam. Here, that is only embeddings, the
    softmax's included, and vectors. A kernel (..., inputs, outputs) is a matrix whose rows are all
    its axes but the last; for two axes, nothing differs.
    """

    def zeropower_via_newtonschulz5(self, x: Any, steps: int) -> Any:
        """Return the update of a kernel: nearly orthogonal, as a matrix.

        Args:
            x: the momentum, of the shape of the kernel.
            steps: iterations.
        """
        return ops.reshape(super().zeropower_via_newtonschulz5(_matrix(x), steps), x.shape)

    def lr_adjust(self, x: Any) -> Any:
        """Return the update (of the shape of the kernel), scaled by the size of the matrix."""
        return ops.reshape(super().lr_adjust(_matrix(x)), x.shape)

    def _apply_weight_decay(self, variables: Any) -> None:
        # Keras computes a decay of 0, too, for every variable in every update.
        if self.weight_decay or self.adam_weight_decay:
            super()._apply_weight_decay(variables)

    def _should_use_adamw(self, variable: Any) -> bool:
        return len(variable.shape) < 2 or (
            self.exclude_embeddings and "embedding" in variable.path.lower()
        )


def _matrix(x: Any) -> Any:
    return ops.reshape(x, (-1, x.shape[-1]))
