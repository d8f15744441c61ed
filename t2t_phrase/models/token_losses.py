"""The loss of each target token, and of a batch, from the decoder's output.

Shapes: B batch, T target length, D hidden size, V target vocabulary size.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.models.base import Loss, Mean
from t2t_phrase.ops.cross_entropy import TokenLosses, smoothed_cross_entropy
from t2t_phrase.ops.masks import padding_mask


def token_losses(
    hidden: Any, kernel: Any, targets: Any, *, label_smoothing: float
) -> dict[str, Any]:
    """Compare the decoder's output with the targets.

    Args:
        hidden: (B, T, D) float.
        kernel: the matrix of the softmax, (V, D); a variable or a tensor.
        targets: (B, T) int.
        label_smoothing: probability mass taken from the correct token.

    Returns:
        "loss", "nll" and "accuracy", each (B, T) float32, see `smoothed_cross_entropy`.
    """
    losses = smoothed_cross_entropy(
        ops.reshape(hidden, (-1, hidden.shape[-1])),
        ops.cast(ops.convert_to_tensor(kernel), hidden.dtype),
        ops.reshape(targets, (-1,)),
        label_smoothing=label_smoothing,
    )
    return named(losses, ops.shape(targets))


def named(losses: TokenLosses, shape: Any) -> dict[str, Any]:
    """Return "loss", "nll" and "accuracy", each of the given shape."""
    values = {"loss": losses.smoothed, "nll": losses.nll, "accuracy": losses.correct}
    return {name: ops.reshape(value, shape) for name, value in values.items()}


def loss_of_tokens(tokens: dict[str, Any], targets: Any) -> Loss:
    """Return the loss of a batch, excluding padding.

    Args:
        tokens: from `token_losses`; all are reported, and "loss" is minimised.
        targets: (B, T) int.
    """
    real = ops.cast(padding_mask(targets), "float32")
    count = ops.sum(real)
    means = {name: Mean(ops.sum(values * real), count) for name, values in tokens.items()}
    return Loss(means["loss"].total, means)
