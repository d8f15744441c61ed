"""Luong's score "concat"."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.luong.score import Score
from t2t_phrase.ops.linear import linear
from t2t_phrase.ops.scores import additive_logits


@keras.saving.register_keras_serializable(package="t2t_phrase")
class ConcatScore(Score):
    """$score(h_t, h_s) = v_a^T tanh(W_a [h_t; h_s])$, with v_a as long as h_t.

    W_a consists of one part for each state, so the term of the memory is computed only once.

    Arguments and results are those of `Score`.

    Example:
        ```python
        query, memory = keras.random.normal((2, 5, 32)), keras.random.normal((2, 7, 48))
        score = t2t_phrase.layers.ConcatScore(initial_range=0.1)
        logits = score(query, memory)  # (2, 5, 7)
        ```
    """

    def build(self, query_shape: Any, memory_shape: Any) -> None:
        """Create both parts of W_a, (U, U) and (M, U), and v_a."""
        units = query_shape[-1]
        self.query_kernel = self.add_map("query", (units, units))
        self.key_kernel = self.add_map("key", (memory_shape[-1], units))
        self.vector = self.add_map("vector", (units,))
        self.built = True

    def project_query(self, query: Any) -> Any:
        """Return the term of the decoder states within the tanh, (B, T, U)."""
        return linear(query, self.value(self.query_kernel))

    def project_memory(self, memory: Any) -> Any:
        """Return the term of the encoder states within the tanh, (B, S, U)."""
        return ops.matmul(memory, self.value(self.key_kernel))

    def key_width(self, memory_width: int) -> int:
        """Return U, the width of the term of the encoder states."""
        del memory_width
        return int(self.vector.shape[0])

    def logits(self, query: Any, keys: Any, length: Any) -> Any:
        """Return $v_a^T tanh(x)$, where x is the sum of both terms."""
        del length
        return additive_logits(query, keys, self.value(self.vector))
