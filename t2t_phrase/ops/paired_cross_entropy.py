"""The losses of two predictions of the same labels, and the divergence of the two.

Shapes: N labels, D hidden size, V vocabulary size.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.cross_entropy import TokenLosses, smoothed_target


def paired_cross_entropy(
    hidden: Any, kernel: Any, labels: Any, *, label_smoothing: float
) -> tuple[TokenLosses, Any]:
    """Compare the logits `hidden @ kernel.T` with the labels and with each other.

    The divergence of a pair is the mean of KL(p || q) and KL(q || p), in nats,

        1/2 sum_v (p_v - q_v) (log p_v - log q_v)

    with p the softmax of the first logits, and q that of the second. All losses share one product
    with the vocabulary. Unlike in `smoothed_cross_entropy`, all logits are in memory together.

    Args:
        hidden: (2N, D) float, all second predictions after the first.
        kernel: (V, D) float, of the same type.
        labels: (N,) int.
        label_smoothing: mass taken from the label, in [0, 1).

    Returns:
        (the losses as from `smoothed_cross_entropy`, each (2N,); the divergences (N,) float32).
    """
    confidence, low, entropy = smoothed_target(label_smoothing, kernel.shape[0])
    logits = ops.cast(ops.matmul(hidden, ops.transpose(kernel)), "float32")
    log_probs = ops.log_softmax(logits, axis=-1)  # (2N, V)
    both = ops.concatenate([labels, labels], axis=0)[:, None]
    of_label = ops.take_along_axis(log_probs, both, axis=-1)[:, 0]
    smoothed = -(confidence - low) * of_label - low * ops.sum(log_probs, axis=-1) - entropy
    fixed = ops.stop_gradient(of_label)
    correct = ops.cast(fixed >= ops.stop_gradient(ops.max(log_probs, axis=-1)), "float32")
    p, q = ops.split(log_probs, 2, axis=0)
    divergence = ops.sum((ops.exp(p) - ops.exp(q)) * (p - q), axis=-1) / 2
    return TokenLosses(smoothed, -fixed, correct), divergence
