"""The softmax over the vocabulary and its smoothed loss, in one function with its own gradient.

Shapes: N tokens, D hidden size, V vocabulary size.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.ops.own_gradient import own_gradient
from t2t_phrase.ops.row_blocks import RowBlocks, put_rows
from t2t_phrase.ops.row_sum import row_sum

# Up to this many logits are computed only once: 0.6 GiB, for 4096 tokens and 40,000 entries.
LOGITS_MADE_ONCE = 4096 * 40_000
# Beyond that, this many at a time: 0.25 GiB, for 2048 tokens and 32,000 entries.
LOGITS_OF_A_BLOCK = 2**26
# Matrix units are fastest with multiples of this many rows.
ROWS_UNIT = 128


class TokenLosses(NamedTuple):
    """The model's losses and hits for each token; every field (N,) float32."""

    smoothed: Any
    """Cross-entropy with label smoothing, 0 for a perfect model."""
    nll: Any
    """Negative log-probability of the label, in nats. Carries no gradient."""
    correct: Any
    """1 where the label has the highest probability, else 0. Carries no gradient."""


class SmoothedTarget(NamedTuple):
    """The distribution that a label stands for, with label smoothing."""

    confidence: float
    """Probability of the label."""
    low: float
    """Probability of each other entry of the vocabulary."""
    entropy: float
    """The smallest cross-entropy with this distribution, in nats."""


def smoothed_target(label_smoothing: float, vocab_size: int) -> SmoothedTarget:
    """Return the target distribution for a mass taken from the label, in [0, 1)."""
    confidence = 1.0 - label_smoothing
    low = label_smoothing / (vocab_size - 1)
    entropy = -confidence * math.log(confidence)
    if low > 0:
        entropy -= (vocab_size - 1) * low * math.log(low)
    return SmoothedTarget(confidence, low, entropy)


def blocks_of_tokens(tokens: Any, vocab_size: int) -> RowBlocks:
    """Return the division of tokens into blocks, which bounds the logits in memory.

    Args:
        tokens: N, an int or a tensor.
        vocab_size: V.
    """
    size, undivided = (
        max(1, logits // vocab_size // ROWS_UNIT) * ROWS_UNIT
        for logits in (LOGITS_OF_A_BLOCK, LOGITS_MADE_ONCE)
    )
    return RowBlocks(tokens, size=size, undivided=undivided)


def smoothed_cross_entropy(
    hidden: Any, kernel: Any, labels: Any, *, label_smoothing: float
) -> TokenLosses:
    """Compare the logits `hidden @ kernel.T` with the labels.

    With confidence $c = 1 - label_smoothing$ and off-target mass $l = label_smoothing / (V - 1)$,

        smoothed = logsumexp(z) - (c - l) z_y - l sum_j z_j - constant

    where the constant is the entropy of the smoothed target, as in tensor2tensor. Neither one-hot
    targets nor log-probabilities are built: besides the logits, only their softmax is, which the
    gradient, $softmax(z) - l - (c - l) onehot(y)$, reuses.

    The logits of usual batches are computed once, and their softmax is kept for the gradient. Those
    of larger batches are never in memory together, see `blocks_of_tokens`: the gradient recomputes
    the logits of each block, which costs one more product with the vocabulary.

    Args:
        hidden: (N, D) float.
        kernel: (V, D) float, of the same type.
        labels: (N,) int.
        label_smoothing: mass taken from the label, in [0, 1).
    """
    vocab_size = kernel.shape[0]
    labels = ops.convert_to_tensor(labels)
    confidence, low, constant = smoothed_target(label_smoothing, vocab_size)

    @own_gradient
    def losses(hidden: Any, kernel: Any) -> Any:
        blocks = blocks_of_tokens(ops.shape(hidden)[0], vocab_size)
        kernel_sum = row_sum(ops.cast(kernel, "float32"))  # (D,)
        target_kernel = ops.take(kernel, labels, axis=0)  # (N, D)
        probs, rest = _softmax(blocks.rest(hidden), kernel, blocks.rest(labels))

        def statistics(rows: Any, *found: Any) -> list[Any]:
            _, of_rows = _softmax(
                ops.take(hidden, rows, axis=0), kernel, ops.take(labels, rows, axis=0)
            )
            return [put_rows(x, rows, new) for x, new in zip(found, of_rows, strict=True)]

        normalizer, target, top = blocks.loop(statistics, [blocks.widen(x) for x in rest])
        total = ops.matmul(ops.cast(hidden, "float32"), kernel_sum[:, None])[:, 0]
        smoothed = normalizer - (confidence - low) * target - low * total - constant
        outputs = (smoothed, normalizer - target, ops.cast(target >= top, "float32"))

        def gradient(of_smoothed: Any, *_: Any) -> Any:
            scale = ops.expand_dims(of_smoothed, -1)
            scaled = ops.cast(scale, hidden.dtype) * hidden
            dtype = kernel.dtype

            def products(probs: Any, scaled: Any) -> tuple[Any, Any]:
                probs = ops.cast(probs, dtype)
                by_kernel = ops.matmul(probs, kernel)
                return by_kernel, ops.cast(ops.matmul(ops.transpose(probs), scaled), "float32")

            def add_products(rows: Any, hidden_grad: Any, kernel_grad: Any) -> tuple[Any, Any]:
                probs = ops.softmax(_logits(ops.take(hidden, rows, axis=0), kernel), axis=-1)
                by_kernel, by_hidden = products(probs, ops.take(scaled, rows, axis=0))
                return put_rows(hidden_grad, rows, by_kernel), kernel_grad + by_hidden

            by_kernel, by_hidden = products(probs, blocks.rest(scaled))
            hidden_grad, kernel_grad = blocks.loop(
                add_products, [blocks.widen(by_kernel), by_hidden]
            )
            hidden_grad = ops.cast(hidden_grad, "float32")
            hidden_grad -= low * kernel_sum
            hidden_grad -= (confidence - low) * ops.cast(target_kernel, "float32")
            scaled = ops.cast(scaled, "float32")
            kernel_grad -= low * row_sum(scaled)
            kernel_grad -= ops.segment_sum(
                (confidence - low) * scaled, labels, num_segments=vocab_size
            )
            return ops.cast(scale * hidden_grad, hidden.dtype), ops.cast(kernel_grad, dtype)

        return outputs, gradient

    smoothed, nll, correct = losses(hidden, kernel)
    return TokenLosses(smoothed, ops.stop_gradient(nll), ops.stop_gradient(correct))


def _logits(hidden: Any, kernel: Any) -> Any:
    return ops.cast(ops.matmul(hidden, ops.transpose(kernel)), "float32")


def _softmax(hidden: Any, kernel: Any, labels: Any) -> tuple[Any, tuple[Any, Any, Any]]:
    """Return probabilities (N, V), and (N,) each: logsumexp, label's logit and largest logit."""
    logits = _logits(hidden, kernel)
    probs = ops.softmax(logits, axis=-1)
    top = ops.max(logits, axis=-1)
    # The largest probability is at least 1/V, so this log is safe where log(probs) is not.
    normalizer = top - ops.log(ops.max(probs, axis=-1))
    target = ops.take_along_axis(logits, labels[:, None], axis=-1)[:, 0]
    return probs, (normalizer, target, top)
