"""The softmax over the vocabulary and its smoothed loss, in one function with its own gradient.

Shapes: N tokens, D hidden size, V vocabulary size.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from keras import ops, tree


class TokenLosses(NamedTuple):
    """What the model makes of each token; every field (N,) float32."""

    smoothed: Any
    """Cross-entropy with label smoothing, 0 for a perfect model."""
    nll: Any
    """Negative log-probability of the label, in nats. Carries no gradient."""
    correct: Any
    """1 where the label has the highest probability, else 0. Carries no gradient."""


def smoothed_cross_entropy(
    hidden: Any, kernel: Any, labels: Any, *, label_smoothing: float
) -> TokenLosses:
    """Compare the logits `hidden @ kernel.T` with the labels.

    With confidence c = 1 - label_smoothing and off-target mass l = label_smoothing / (V - 1),

        smoothed = logsumexp(z) - (c - l) z_y - l sum_j z_j - constant

    where the constant is the entropy of the smoothed target, as in tensor2tensor. Neither one-hot
    targets nor log-probabilities are built: beside the logits only their softmax is, which the
    gradient, softmax - l - (c - l) onehot(y), needs again.

    Args:
        hidden: (N, D) float.
        kernel: (V, D) float, of the same type.
        labels: (N,) int.
        label_smoothing: mass taken from the label, in [0, 1).
    """
    vocab_size = kernel.shape[0]
    confidence = 1.0 - label_smoothing
    low = label_smoothing / (vocab_size - 1)
    constant = -confidence * math.log(confidence)
    if low > 0:
        constant -= (vocab_size - 1) * low * math.log(low)

    @ops.custom_gradient
    def losses(hidden: Any, kernel: Any) -> Any:
        kernel_sum = ops.sum(ops.cast(kernel, "float32"), axis=0)  # (D,)
        target_kernel = ops.take(kernel, labels, axis=0)  # (N, D)
        logits = ops.cast(ops.matmul(hidden, ops.transpose(kernel)), "float32")  # (N, V)
        probs = ops.softmax(logits, axis=-1)
        top = ops.max(logits, axis=-1)
        # The largest probability is at least 1/V, so this log is safe where log(probs) is not.
        normalizer = top - ops.log(ops.max(probs, axis=-1))
        target = ops.take_along_axis(logits, labels[:, None], axis=-1)[:, 0]
        total = ops.matmul(ops.cast(hidden, "float32"), kernel_sum[:, None])[:, 0]
        smoothed = normalizer - (confidence - low) * target - low * total - constant
        outputs = (smoothed, normalizer - target, ops.cast(target >= top, "float32"))

        def gradient(*args: Any, upstream: Any = None) -> Any:
            # TensorFlow passes the outputs' gradients side by side, JAX as one tuple.
            passed = tree.flatten(args if upstream is None else upstream)
            scale = ops.expand_dims(passed[0], -1)
            scaled = ops.cast(scale, hidden.dtype) * hidden
            dtype = kernel.dtype
            probs_cast = ops.cast(probs, dtype)
            hidden_grad = ops.cast(ops.matmul(probs_cast, kernel), "float32")
            hidden_grad -= low * kernel_sum
            hidden_grad -= (confidence - low) * ops.cast(target_kernel, "float32")
            kernel_grad = ops.cast(ops.matmul(ops.transpose(probs_cast), scaled), "float32")
            scaled = ops.cast(scaled, "float32")
            kernel_grad -= low * ops.sum(scaled, axis=0)
            kernel_grad -= (confidence - low) * ops.segment_sum(
                scaled, labels, num_segments=vocab_size
            )
            return ops.cast(scale * hidden_grad, hidden.dtype), ops.cast(kernel_grad, dtype)

        return outputs, gradient

    smoothed, nll, correct = losses(hidden, kernel)
    return TokenLosses(smoothed, ops.stop_gradient(nll), ops.stop_gradient(correct))
