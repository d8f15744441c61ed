"""Luong's score "general"."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.luong.score import Score
from t2t_phrase.ops.linear import linear
from t2t_phrase.ops.product import operand
from t2t_phrase.ops.scores import dot_logits


@keras.saving.register_keras_serializable(package="t2t_phrase")
class GeneralScore(Score):
    """$score(h_t, h_s) = h_t^T W_a h_s$.

    The query is multiplied by W_a, so the keys are the memory itself, of which local attention
    gathers one window, not two.

    Arguments and results are those of `Score`.

    Example:
        ```python
        query, memory = keras.random.normal((2, 5, 32)), keras.random.normal((2, 7, 48))
        logits = t2t_phrase.layers.GeneralScore()(query, memory)  # (2, 5, 7)
        ```
    """

    def build(self, query_shape: Any, memory_shape: Any) -> None:
        """Create W_a (U, M)."""
        self.kernel = self.add_map("kernel", (query_shape[-1], memory_shape[-1]))
        self.built = True

    def project_query(self, query: Any) -> Any:
        """Return $h_t^T W_a$, (B, T, M)."""
        return linear(query, operand(self.kernel, self.compute_dtype))

    def logits(self, query: Any, keys: Any, length: Any) -> Any:
        """Return the dot products."""
        del length
        return dot_logits(query, keys)
