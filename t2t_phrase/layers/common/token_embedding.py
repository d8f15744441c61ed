"""Token embeddings, whose matrix the softmax may share."""

from __future__ import annotations

import math
from typing import Any

import keras
from keras import ops

from t2t_phrase.ops.look_up import look_up
from t2t_phrase.ops.masks import padding_mask


@keras.saving.register_keras_serializable(package="t2t_phrase")
class TokenEmbedding(keras.layers.Layer):
    """Looks up the vectors of tokens: $sqrt(D) E[id]$, and zeros at padding.

    Vaswani et al. (2017), Section 3.4. The matrix starts as $N(0, D^-1/2)$; a softmax that shares
    the matrix reads it from `kernel`.

    Args:
        vocab_size: V.
        hidden_size: D.
        mask_zero: whether the output carries Keras' implicit mask of padding.

    Call arguments:
        ids: (B, T) int, 0 = padding.

    Returns:
        (B, T, D) float.

    Example:
        ```python
        embedding = t2t_phrase.layers.TokenEmbedding(vocab_size=100, hidden_size=64, mask_zero=True)
        x = embedding(ops.array([[12, 7, 31, 1], [5, 1, 0, 0]]))  # (2, 4, 64)
        # The softmax may share the matrix.
        logits = ops.matmul(x, ops.transpose(embedding.kernel))  # (2, 4, 100)
        ```
    """

    def __init__(
        self, *, vocab_size: int, hidden_size: int, mask_zero: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.mask_zero = mask_zero
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size

    def build(self, input_shape: Any = None) -> None:
        """Create the matrix (V, D)."""
        self.kernel = self.add_weight(
            name="embeddings",
            shape=(self.vocab_size, self.hidden_size),
            initializer=self._initializer(),
            autocast=False,
        )
        self.built = True

    def _initializer(self) -> keras.initializers.Initializer:
        return keras.initializers.RandomNormal(stddev=self.hidden_size**-0.5)

    def call(self, ids: Any) -> Any:
        """Embed `ids`."""
        vectors = look_up(self.kernel, ids, self.compute_dtype)  # (B, T, D)
        scale = ops.cast(padding_mask(ids), self.compute_dtype) * math.sqrt(self.hidden_size)
        return vectors * scale[..., None]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return (B, T) bool, True at tokens, if `mask_zero`; else None."""
        del mask
        return padding_mask(inputs) if self.mask_zero else None

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "vocab_size": self.vocab_size,
            "hidden_size": self.hidden_size,
            "mask_zero": self.mask_zero,
        }
