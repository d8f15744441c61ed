"""The losses of two predictions of the same labels, and the divergence of the two.

Shapes: N labels, D hidden size, V vocabulary size.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from keras import ops

from t2t_phrase.compile import traced, within_xla
from t2t_phrase.ops.cross_entropy import TokenLosses, smoothed_target
from t2t_phrase.ops.own_gradient import own_gradient
from t2t_phrase.ops.row_sum import row_sum


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
    both = ops.concatenate([labels, labels], axis=0)
    normalizer, target, top, divergence = _compare(hidden, kernel, both)
    kernel_sum = row_sum(ops.cast(kernel, "float32"))  # (D,)
    total = ops.matmul(ops.cast(hidden, "float32"), kernel_sum[:, None])[:, 0]
    smoothed = normalizer - (confidence - low) * target - low * total - entropy
    nll = ops.stop_gradient(normalizer - target)
    correct = ops.stop_gradient(ops.cast(target >= top, "float32"))
    return TokenLosses(smoothed, nll, correct), divergence


def _compare(hidden: Any, kernel: Any, labels: Any) -> Any:
    """Return logsumexp, label's logit and largest logit, (2N,) each, and the divergences (N,).

    All are float32. The largest logit carries no gradient. With upstream gradients a of the
    logsumexp of p and c of the divergence, the gradient of the logits of p is

        a p + c/2 [p (1 + log p - log q - KL(p || q)) - q]

    plus that of the label's logit, and likewise for q.
    """

    @own_gradient
    def compare(hidden: Any, kernel: Any) -> Any:
        logits = ops.matmul(hidden, ops.transpose(kernel))  # (2N, V)
        target = ops.take_along_axis(logits, labels[:, None], axis=-1)[:, 0]
        normalizer, top, forwards, backwards = _in_one_pass(_statistics)(logits)
        outputs = (normalizer, ops.cast(target, "float32"), top, (forwards + backwards) / 2)

        def gradient(of_normalizer: Any, of_target: Any, _: Any, of_divergence: Any) -> Any:
            by_p, by_q = _in_one_pass(_logit_gradients)(
                logits, normalizer, forwards, backwards, of_normalizer, of_divergence / 2
            )
            scale = of_target[:, None]
            by_kernel = [ops.matmul(by_p, kernel), ops.matmul(by_q, kernel)]
            hidden_grad = ops.cast(ops.concatenate(by_kernel, axis=0), "float32")
            hidden_grad += scale * ops.cast(ops.take(kernel, labels, axis=0), "float32")
            kernel_grad = ops.segment_sum(
                scale * ops.cast(hidden, "float32"), labels, num_segments=kernel.shape[0]
            )
            for by_logits, rows in zip((by_p, by_q), ops.split(hidden, 2, axis=0), strict=True):
                kernel_grad += ops.cast(ops.matmul(ops.transpose(by_logits), rows), "float32")
            return ops.cast(hidden_grad, hidden.dtype), ops.cast(kernel_grad, kernel.dtype)

        return outputs, gradient

    return compare(hidden, kernel)


def _statistics(logits: Any) -> tuple[Any, Any, Any, Any]:
    """Return logsumexp and largest logit (2N,), KL(p || q) and KL(q || p) (N,); float32."""
    wide = ops.cast(logits, "float32")
    top = ops.max(wide, axis=-1)
    normalizer = top + ops.log(ops.sum(ops.exp(wide - top[:, None]), axis=-1))
    log_p, log_q = _log_probabilities(logits, normalizer)
    forwards = ops.sum(ops.exp(log_p) * (log_p - log_q), axis=-1)
    backwards = ops.sum(ops.exp(log_q) * (log_q - log_p), axis=-1)
    return normalizer, top, forwards, backwards


def _logit_gradients(
    logits: Any, normalizer: Any, forwards: Any, backwards: Any, scale: Any, weight: Any
) -> tuple[Any, Any]:
    """Return the gradients of the logits of p and q, (N, V) each, of the type of `logits`.

    Args:
        logits: (2N, V).
        normalizer: logsumexp (2N,).
        forwards: KL(p || q) (N,).
        backwards: KL(q || p) (N,).
        scale: a, (2N,).
        weight: c/2, (N,).
    """
    log_p, log_q = _log_probabilities(logits, normalizer)
    p, q = ops.exp(log_p), ops.exp(log_q)
    of_p, of_q = ops.split(scale[:, None], 2, axis=0)
    weight = weight[:, None]
    by_p = p * (of_p + weight * (1 + log_p - log_q - forwards[:, None])) - weight * q
    by_q = q * (of_q + weight * (1 + log_q - log_p - backwards[:, None])) - weight * p
    return ops.cast(by_p, logits.dtype), ops.cast(by_q, logits.dtype)


def _log_probabilities(logits: Any, normalizer: Any) -> list[Any]:
    return ops.split(ops.cast(logits, "float32") - normalizer[:, None], 2, axis=0)


def _in_one_pass(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, compiled by XLA even where nothing else is.

    Run one by one, each operation would take a pass over all logits.
    """
    return function if within_xla() else _compiled(function)


@functools.cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return traced(function, jit_compile=True)
