"""Where the preceding tokens of an n-gram are: in the same tensor, or kept from earlier steps.

An attention computes its n-grams by one of these two classes, so its equations are written once,
for whole sentences and for decoding token by token.
"""

from __future__ import annotations

from typing import Any, Protocol

from keras import ops

from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.ops.ngrams import unfold, unfold_latest


class NgramContext(Protocol):
    """Makes the n-grams that end in each position of `x`.

    Attributes:
        decoding: whether what is made of `x` is added to a history.
    """

    decoding: bool

    def unfold_heads(self, name: str, x: Any, order: int) -> Any:
        """Return windows (B, H, n d_k, S) of each head of `x` (B, S, H, d_k).

        Args:
            name: under which the tokens are kept for later steps.
            x: the heads of each token.
            order: n.
        """

    def convolve(self, name: str, x: Any, dense: NgramDense) -> Any:
        """Return `dense` of the n-grams that end at each position of `x` (B, S, D)."""


class WholeSentences:
    """All positions at once, (B, S, ...)."""

    decoding = False

    def unfold_heads(self, name: str, x: Any, order: int) -> Any:
        """Return windows (B, H, n d_k, S) of each head of `x` (B, S, H, d_k)."""
        del name
        return ops.transpose(unfold(ops.transpose(x, (0, 2, 1, 3)), order), (0, 1, 3, 2))

    def convolve(self, name: str, x: Any, dense: NgramDense) -> Any:
        """Return `dense` of the n-grams of `x` (B, S, D)."""
        del name
        return dense(x)


class LatestTokens:
    """The current token of every beam, (B, K, ...).

    Args:
        recent: the tokens before the current one, (B, K, N - 1, ...), by name.
    """

    decoding = True

    def __init__(self, recent: dict[str, Any]) -> None:
        self.recent = recent
        self.next = dict(recent)
        """`recent` for the next step."""

    def unfold_heads(self, name: str, x: Any, order: int) -> Any:
        """Return windows (B, H, n d_k, K) of each head of `x` (B, K, H, d_k)."""
        return ops.transpose(self._unfold(name, x, order), (0, 2, 3, 1))

    def _unfold(self, name: str, x: Any, order: int) -> Any:
        if order == 1:
            return x
        recent = self.recent[name]
        tokens = ops.concatenate([recent, ops.cast(x, recent.dtype)[:, :, None]], axis=2)
        self.next[name] = tokens[:, :, 1:]
        return unfold_latest(tokens, order)

    def convolve(self, name: str, x: Any, dense: NgramDense) -> Any:
        """Return `dense` of the n-grams of `x` (B, K, D)."""
        return dense.map_windows(self._unfold(name, x, dense.order))
