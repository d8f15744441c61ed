"""Dynamic loss scaling, without which small gradients in float16 would be 0."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

# Below this scale, an overflow is not due to the scaling.
LEAST_SCALE = 1.0


def with_loss_scale(
    optimizer: keras.optimizers.Optimizer, *, initial_scale: float = 2.0**15
) -> keras.optimizers.LossScaleOptimizer:
    """Return an optimizer for gradients of a loss that is multiplied by `loss_scale`.

    An update whose gradient is not finite is skipped, and the scale is halved; after 2,000 updates
    without one it is doubled. Scale and counter are part of the optimizer's variables, and so of
    checkpoints.

    Args:
        optimizer: the optimizer that makes the updates.
        initial_scale: scale of the first update.
    """
    return keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=initial_scale)


def inner_optimizer(optimizer: keras.optimizers.Optimizer) -> keras.optimizers.Optimizer:
    """Return the optimizer that makes the updates."""
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        return optimizer.inner_optimizer
    return optimizer


def is_scaled(optimizer: keras.optimizers.Optimizer) -> bool:
    """Return whether an optimizer expects a scaled loss."""
    return isinstance(optimizer, keras.optimizers.LossScaleOptimizer)


def loss_scale(optimizer: keras.optimizers.Optimizer) -> Any:
    """Return the number that the loss is multiplied by, a float32 scalar; 1 without scaling."""
    if is_scaled(optimizer):
        return ops.copy(optimizer.dynamic_scale.value)
    return ops.ones((), "float32")
