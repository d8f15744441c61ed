"""Luong's local-m attention."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.luong.local_attention import LocalAttention


@keras.saving.register_keras_serializable(package="t2t_phrase")
class LocalMonotonicAttention(LocalAttention):
    """Local attention around the position of the target token itself: $p_t = t$.

    Luong et al. (2015), local-m. There is no Gaussian.

    Differs from the paper: it does not say what a target longer than its source attends to; here
    $p_t = min(t, S - 1)$, the window around the last token.

    Arguments and results are those of `LocalAttention`.

    Example:
        ```python
        attention = t2t_phrase.layers.LocalMonotonicAttention(
            units=32, window=2, score=t2t_phrase.layers.DotScore()
        )
        query, memory = keras.random.normal((2, 5, 32)), keras.random.normal((2, 7, 32))
        hidden, weights = attention(query, memory)  # (2, 5, 32), (2, 1, 5, 7)
        # The fourth query attends to positions 1 to 5.
        window = weights[:, 0, 3, 1:6]  # (2, 5)
        ```
    """

    def aligned(self, query: Any, lengths: Any, places: Any) -> Any:
        """Return $min(t, S - 1)$."""
        batch = ops.shape(query)[0]
        own = ops.minimum(places[None], lengths - 1)  # (B, T)
        return ops.cast(own, "float32") + ops.zeros((batch, 1))
