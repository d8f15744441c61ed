"""Muon for kernels of any number of axes."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

# Variables that may have several axes, none of which is that of inputs.
_NO_KERNELS = ("bias", "weights")


class KernelMuon(keras.optimizers.Muon):
    """`keras.optimizers.Muon` that also takes kernels of convolutions and attention heads.

    Keras leaves everything that is not a matrix to Adam; this class leaves only vectors, biases of
    heads, weights of transparent attention, and embeddings, including the softmax's. A kernel
    (..., inputs, outputs) is treated as a matrix whose rows are all axes but the last; for two
    axes, nothing differs.
    """

    def zeropower_via_newtonschulz5(self, x: Any, steps: int) -> Any:
        """Return the update of a kernel, which is nearly orthogonal as a matrix.

        Args:
            x: the momentum, of the shape of the kernel.
            steps: number of iterations.
        """
        return ops.reshape(super().zeropower_via_newtonschulz5(_matrix(x), steps), x.shape)

    def lr_adjust(self, x: Any) -> Any:
        """Return the update (of the shape of the kernel), scaled by the size of the matrix."""
        return ops.reshape(super().lr_adjust(_matrix(x)), x.shape)

    def _apply_weight_decay(self, variables: Any) -> None:
        # Keras computes even a decay of 0 for every variable in every update.
        if self.weight_decay or self.adam_weight_decay:
            super()._apply_weight_decay(variables)

    def _should_use_adamw(self, variable: Any) -> bool:
        if len(variable.shape) < 2 or variable.name in _NO_KERNELS:
            return True
        return self.exclude_embeddings and "embedding" in variable.path.lower()


def _matrix(x: Any) -> Any:
    return ops.reshape(x, (-1, x.shape[-1]))
