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
from t2t_phrase.models.token_losses import named
from t2t_phrase.ops.paired_cross_entropy import paired_cross_entropy


def twice(features: Features) -> Features:
    """Return a batch that contains each row twice: (2B, ...), all second copies after the first."""
    return {name: ops.concatenate([value, value], axis=0) for name, value in features.items()}


def paired_token_losses(
    hidden: Any, kernel: Any, targets: Any, *, label_smoothing: float
) -> dict[str, Any]:
    """Compare both outputs of the decoder with the targets and with each other.

    Args:
        hidden: (2B, T, D) float, the decoder's output for `twice` a batch.
        kernel: the matrix of the softmax, (V, D); a variable or a tensor.
        targets: (2B, T) int.
        label_smoothing: probability mass taken from the correct token.

    Returns:
        The losses as from `token_losses` and "divergence", in nats, equal for both rows of a pair;
        each (2B, T) float32.
    """
    labels = ops.split(targets, 2, axis=0)[0]
    losses, divergence = paired_cross_entropy(
        ops.reshape(hidden, (-1, hidden.shape[-1])),
        ops.cast(ops.convert_to_tensor(kernel), hidden.dtype),
        ops.reshape(labels, (-1,)),
        label_smoothing=label_smoothing,
    )
    both = ops.concatenate([divergence, divergence], axis=0)
    shape = ops.shape(targets)
    return {**named(losses, shape), "divergence": ops.reshape(both, shape)}


def r_drop_loss(loss: Loss, *, weight: float) -> Loss:
    """Return the objective of R-Drop, scaled to B rows.

    Args:
        loss: the loss of the 2B rows without R-Drop, whose means include "divergence".
        weight: alpha, the weight of the divergence.
    """
    means = {name: Mean(mean.total / 2, mean.count / 2) for name, mean in loss.means.items()}
    return Loss(loss.objective / 2 + weight / 2 * means["divergence"].total, means)
