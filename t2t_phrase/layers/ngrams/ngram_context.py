"""The preceding tokens of an n-gram, in the same tensor or kept from earlier steps.

An attention computes its n-grams through one of these classes, so its equations are written once,
for whole sentences, for rows of several sentences, and for decoding token by token.
"""

from __future__ import annotations

from typing import Any, Protocol

from keras import ops

from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.ops.ngrams import unfold, unfold_latest


class NgramContext(Protocol):
    """Makes the n-grams that end at each position of `x`.

    Attributes:
        decoding: whether the results for `x` are added to a history.
    """

    decoding: bool

    def convolve(self, x: Any, dense: NgramDense) -> Any:
        """Return `dense` applied to the n-grams that end at each position of `x` (B, S, D)."""

    def unfold(self, x: Any, order: int) -> Any:
        """Return the n tokens of each n-gram of `x` (B, H, S, D) side by side, (B, H, S, n D).

        Not used while decoding.
        """


class WholeSentences:
    """All positions at once, (B, S, ...).

    Args:
        positions: (B, S) int: where rows hold several sentences, the position of each token in its
            sentence. Zeros take the place of the tokens before a sentence. None: each row is a
            sentence.
    """

    decoding = False

    def __init__(self, positions: Any | None = None) -> None:
        self.positions = positions

    def convolve(self, x: Any, dense: NgramDense) -> Any:
        """Return `dense` applied to the n-grams of `x` (B, S, D)."""
        return dense.map_windows(unfold(x, dense.order, self.positions))

    def unfold(self, x: Any, order: int) -> Any:
        """Return the tokens of each n-gram of `x` (B, H, S, D)."""
        positions = self.positions
        return unfold(x, order, None if positions is None else positions[:, None])


class LatestTokens:
    """The current token of every beam, (B, K, ...).

    Args:
        recent: "input", the tokens before the current one, (B, K, N - 1, D), if the longest n-grams
            have $N > 1$ tokens.
    """

    decoding = True

    def __init__(self, recent: dict[str, Any]) -> None:
        self.recent = recent
        self.next = dict(recent)
        """`recent` for the next step."""

    def convolve(self, x: Any, dense: NgramDense) -> Any:
        """Return `dense` applied to the n-grams of `x` (B, K, D)."""
        if dense.order == 1:
            return dense.map_windows(x)
        recent = self.recent["input"]
        tokens = ops.concatenate([recent, ops.cast(x, recent.dtype)[:, :, None]], axis=2)
        self.next["input"] = tokens[:, :, 1:]
        return dense.map_windows(unfold_latest(tokens, dense.order))

    def unfold(self, x: Any, order: int) -> Any:
        """Raise NotImplementedError: keys of single tokens are kept.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError
