"""R-Drop: Liang et al. (2021), "R-Drop: Regularized Dropout for Neural Networks", Eq. (1) to (4).

Each pair is read twice, with different dropout masks. The objective is

    1/2 (CE_1 + CE_2) + alpha/4 [KL(P_1 || P_2) + KL(P_2 || P_1)]

per target token.

Differs from the paper: the objective is half of the paper's, so that the loss of a token is as
large as without R-Drop.

Shapes: B pairs of a batch, T target length, D hidden size, V target vocabulary size.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.models.base import Features, Loss, Mean
from t2t_phrase.ops.divergence import symmetric_divergence
from t2t_phrase.ops.masks import padding_mask


def twice(features: Features) -> Features:
    """Return a batch that contains each row twice: (2B, ...), all second copies after the first."""
    return {name: ops.concatenate([value, value], axis=0) for name, value in features.items()}


def r_drop_loss(loss: Loss, hidden: Any, kernel: Any, targets: Any, *, weight: float) -> Loss:
    """Return the objective of R-Drop.

    Args:
        loss: the loss of the 2B rows, without R-Drop.
        hidden: (2B, T, D) float, the decoder's output.
        kernel: (V, D), the matrix of the softmax.
        targets: (2B, T) int.
        weight: alpha, the weight of the divergence.

    Returns:
        The loss, scaled to B rows; in addition to the figures of `loss`, it reports "divergence",
        the mean over the target tokens, in nats.
    """
    width = hidden.shape[-1]
    first, second = (ops.reshape(half, (-1, width)) for half in ops.split(hidden, 2, axis=0))
    matrix = ops.cast(ops.convert_to_tensor(kernel), hidden.dtype)
    divergence = symmetric_divergence(first, second, matrix)  # (B * T,)
    real = ops.cast(padding_mask(ops.split(targets, 2, axis=0)[0]), "float32")
    total = ops.sum(divergence * ops.reshape(real, (-1,)))
    means = {name: Mean(mean.total / 2, mean.count / 2) for name, mean in loss.means.items()}
    means["divergence"] = Mean(total, ops.sum(real))
    return Loss(loss.objective / 2 + weight / 2 * total, means)
