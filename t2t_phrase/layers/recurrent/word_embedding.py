"""Embeddings of recurrent models."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.initializers import uniform
from t2t_phrase.layers.common.token_embedding import TokenEmbedding
from t2t_phrase.ops.look_up import look_up
from t2t_phrase.ops.masks import padding_mask


@keras.saving.register_keras_serializable(package="t2t_phrase")
class WordEmbedding(TokenEmbedding):
    """Looks up the vectors of tokens: E[id] without any factor, and zeros at padding.

    Args:
        vocab_size: V.
        hidden_size: D.
        initial_range: if positive, the matrix starts uniformly distributed in +-`initial_range`;
            0: as $N(0, D^-1/2)$.

    Call arguments:
        ids: (B, T) int, 0 = padding.

    Returns:
        (B, T, D) float.

    Example:
        ```python
        embedding = t2t_phrase.layers.WordEmbedding(
            vocab_size=100, hidden_size=64, initial_range=0.1
        )
        x = embedding(ops.array([[12, 7, 31, 1], [5, 1, 0, 0]]))  # (2, 4, 64)
        ```
    """

    def __init__(self, *, initial_range: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.initial_range = initial_range

    def _initializer(self) -> keras.initializers.Initializer:
        return uniform(self.initial_range) or super()._initializer()

    def call(self, ids: Any) -> Any:
        """Embed `ids`."""
        vectors = look_up(self.kernel, ids, self.compute_dtype)
        return vectors * ops.cast(padding_mask(ids), self.compute_dtype)[..., None]

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "initial_range": self.initial_range}
