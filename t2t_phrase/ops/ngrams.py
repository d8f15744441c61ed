"""The windows of tokens that n-grams consist of.

An n-gram of order n is indexed by its last token j. It consists of the tokens j-n+1 ... j, with
zeros in place of tokens before the sentence. So there are as many n-grams of every order as tokens.
Where a row holds several sentences, the tokens before a sentence belong to another one.

Shapes: B batch, S positions, K beams, D width of a token.
"""

from __future__ import annotations

from typing import Any

from keras import ops


def unfold(x: Any, order: int, positions: Any | None = None) -> Any:
    """Return the window of each position, its tokens concatenated, (..., S, n D).

    Args:
        x: (..., S, D).
        order: n.
        positions: broadcastable to (..., S), int: where rows hold several sentences, the position
            of each token in its sentence; None: each row is a sentence.

    Example:
        ```python
        from t2t_phrase.ops.ngrams import unfold

        x = np.array([[1.0], [2.0], [3.0]])
        bigrams = unfold(x, 2)  # [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
        ```
    """
    if order == 1:
        return x

    def earlier(steps: int) -> Any:
        """Return the token `steps` before each position."""
        moved = shift(x, steps)
        if positions is None or not steps:
            return moved
        return ops.where(positions[..., None] >= steps, moved, ops.zeros((), x.dtype))

    return ops.concatenate([earlier(order - 1 - t) for t in range(order)], axis=-1)


def shift(x: Any, steps: int) -> Any:
    """Return x[..., j - steps, :] for each position j, zeros where there is no such position.

    Args:
        x: (..., S, D).
        steps: how far tokens move to the right; negative: to the left.
    """
    if not steps:
        return x
    others = len(x.shape) - 2
    # By numbers only: JAX cannot pad by an amount that depends on a symbolic length.
    padding = (steps, 0) if steps > 0 else (0, -steps)
    padded = ops.pad(x, [*[(0, 0)] * others, padding, (0, 0)])
    # Not by indexing, whose gradient takes several times as long in TensorFlow.
    return ops.slice(padded, (*[0] * others, max(-steps, 0), 0), ops.shape(x))


def unfold_latest(tokens: Any, order: int) -> Any:
    """Return the window that ends in the last token, (B, K, ..., n D).

    Args:
        tokens: (B, K, N, ..., D), the last N >= n tokens of every beam.
        order: n.
    """
    count = tokens.shape[2]
    return ops.concatenate([tokens[:, :, t] for t in range(count - order, count)], axis=-1)
