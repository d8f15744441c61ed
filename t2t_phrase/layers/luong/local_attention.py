"""The base class of both kinds of Luong's local attention."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.layers.luong.attentional_vector import AttentionalVector, Cache
from t2t_phrase.layers.luong.window import Windows
from t2t_phrase.ops.attention import attention_weights
from t2t_phrase.ops.masks import window_mask
from t2t_phrase.ops.position import positions
from t2t_phrase.ops.scores import window_context
from t2t_phrase.ops.windows import gather_windows, spread_windows, window_positions


class LocalAttention(AttentionalVector):
    """Attention to a window of $2D + 1$ source positions, the only ones that are read.

    Luong et al. (2015), Section 3.2: the softmax is over the scores of the window. The part of the
    window outside the sentence is left out. Positions are those of the tokens in the source,
    counted from 0, in whichever order the encoder reads them; S is the number of tokens of each
    sentence, without padding. A subclass chooses the position p_t of each query in `aligned`, and
    may change the weights in `shaped`. The window is centred on the position nearest to p_t, so
    that it always has $2D + 1$ positions.

    Differs from the paper: it does not say how a window around a p_t between two positions is
    rounded, nor whether positions begin at 0 or 1.

    Args:
        window: D, at least 1.
        units, score, initial_range: see `AttentionalVector`.

    Call arguments:
        attention_mask: (B, 1, 1, S) bool, True at the first tokens of a sentence; None: no padding.

    Other call arguments and results are those of `AttentionalVector`.

    Raises:
        ValueError: the score cannot score windows, or `window` is below 1.
    """

    def __init__(self, *, window: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if window < 1:
            raise ValueError(f"window must be at least 1, got {window}.")
        self.window = window
        if not self.score.scores_windows:
            raise ValueError(f"{type(self.score).__name__} cannot score a window of the source.")

    def aligned(self, query: Any, lengths: Any, places: Any) -> Any:
        """Return p_t, (B, T) float32, in [0, S].

        Args:
            query: (B, T, U), of the compute dtype.
            lengths: (B, 1) int32, S of each sentence.
            places: (T,) int, the position of each query in the target.
        """
        raise NotImplementedError

    def shaped(self, weights: Any, window: Any, aligned: Any) -> Any:
        """Return the weights that the context is computed with, (B, T, N) float32.

        Args:
            weights: (B, T, N) float32, the softmax of the scores.
            window: (B, T, N) int, the positions of the window.
            aligned: from `aligned`.
        """
        del window, aligned
        return weights

    def attend_at(
        self, query: Any, projected: Cache, attention_mask: Any | None, places: Any
    ) -> tuple[Any, Any]:
        """Weigh the positions of each query's window."""
        memory = projected["memory"]
        lengths = _lengths(memory, attention_mask)
        centre, aligned = self._centres(query, lengths, places)
        window = window_positions(centre, self.window)
        values = gather_windows(memory, window)
        keys = gather_windows(projected["key"], window) if "key" in projected else values
        query = self.score.project_query(query)
        logits = self.score.logits(query, keys, 2 * self.window + 1)
        weights = attention_weights(logits[:, None], window_mask(window, lengths))[:, 0]
        weights = self.shaped(weights, window, aligned)
        everywhere = spread_windows(weights, window, ops.shape(memory)[1])
        return window_context(weights, values), everywhere[:, None]

    def _centres(self, query: Any, lengths: Any, places: Any) -> tuple[Any, Any]:
        """Return the middle of each query's window, (B, T) int32, and p_t."""
        aligned = self.aligned(query, lengths, places)
        # Rounded half up, unlike `ops.round`; the last token where p_t is close to S.
        return ops.minimum(ops.cast(ops.floor(aligned + 0.5), "int32"), lengths - 1), aligned

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the Gaussian; None: there is no Gaussian."""
        return None

    def windows(self, query: Any, projected: Cache, attention_mask: Any | None = None) -> Windows:
        """Return the windows of the states (B, T, U) of a whole sentence; see `attend`."""
        query = ops.cast(query, self.compute_dtype)
        lengths = _lengths(projected["memory"], attention_mask)
        centre, aligned = self._centres(query, lengths, positions(ops.shape(query)[1]))
        return Windows(centre, aligned, self.window, self.deviation)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "window": self.window}


def _lengths(memory: Any, attention_mask: Any | None) -> Any:
    """Return (B, 1) int32: the number of tokens of each sentence."""
    batch, length, _ = ops.shape(memory)
    if attention_mask is None:
        return ops.zeros((batch, 1), "int32") + length
    return ops.sum(ops.cast(attention_mask[:, 0], "int32"), axis=-1)
