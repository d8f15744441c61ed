"""Luong's global attention."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.luong.attentional_vector import AttentionalVector, Cache
from t2t_phrase.ops.attention import attention_weights
from t2t_phrase.ops.scores import window_context


@keras.saving.register_keras_serializable(package="t2t_phrase")
class GlobalAttention(AttentionalVector):
    """Attention to the whole source.

    Luong et al. (2015), Section 3.1:

        a_t(s) = softmax_s(score(h_t, h_s)),  c_t = sum_s a_t(s) h_s

    Arguments and results are those of `AttentionalVector`.

    Example:
        ```python
        attention = t2t_phrase.layers.GlobalAttention(
            units=32, score=t2t_phrase.layers.GeneralScore()
        )
        query, memory = keras.random.normal((2, 5, 32)), keras.random.normal((2, 7, 48))
        mask = (ops.arange(7) < ops.array([[7], [4]]))[:, None, None]  # (2, 1, 1, 7)
        hidden, weights = attention(query, memory, attention_mask=mask)  # (2, 5, 32), (2, 1, 5, 7)
        ```
    """

    def attend_at(
        self, query: Any, projected: Cache, attention_mask: Any | None, places: Any
    ) -> tuple[Any, Any]:
        """Weigh all positions."""
        del places
        memory = projected["memory"]
        keys = projected.get("key", memory)
        logits = self.score.logits(self.score.project_query(query), keys, ops.shape(memory)[1])
        weights = attention_weights(logits[:, None], attention_mask)
        return window_context(weights[:, 0], memory), weights
