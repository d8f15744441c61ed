"""Luong's score "dot"."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.luong.score import Score
from t2t_phrase.ops.scores import dot_logits


@keras.saving.register_keras_serializable(package="t2t_phrase")
class DotScore(Score):
    """$score(h_t, h_s) = h_t^T h_s$, without any weights.

    Arguments and results are those of `Score`.

    Raises:
        ValueError: the states of encoder and decoder differ in width.

    Example:
        ```python
        query, memory = keras.random.normal((2, 5, 32)), keras.random.normal((2, 7, 32))
        logits = t2t_phrase.layers.DotScore()(query, memory)  # (2, 5, 7)
        ```
    """

    def build(self, query_shape: Any, memory_shape: Any) -> None:
        """Check the widths."""
        if query_shape[-1] != memory_shape[-1]:
            raise ValueError(
                'the score "dot" needs decoder and encoder states of equal width, got '
                f"{query_shape[-1]} and {memory_shape[-1]}."
            )
        self.built = True

    def logits(self, query: Any, keys: Any, length: Any) -> Any:
        """Return the dot products."""
        del length
        return dot_logits(query, keys)
