"""Word dropout: tokens that are read as unknown."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.ops.dropout import drop_threshold
from t2t_phrase.ops.random_bits import places, random_bits
from t2t_phrase.special_ids import EOS_ID, UNK_ID


@keras.saving.register_keras_serializable(package="t2t_phrase")
class WordDropout(keras.layers.Layer):
    """Replaces tokens by the unknown token in training; padding and EOS stay.

    Differs from the paper (Sennrich et al., 2016, "Edinburgh Neural Machine Translation Systems for
    WMT 16"): the embedding is that of the unknown token instead of zero, and other embeddings are
    not scaled; each occurrence of a word is dropped independently of the others.

    Args:
        rate: probability of replacing a token, in [0, 1), rounded to a multiple of 1/65536.

    Call arguments:
        ids: (...) int.
        training: whether tokens are replaced.

    Returns:
        (...) of the type of `ids`.

    Example:
        ```python
        ids = ops.array([[12, 7, 31, 1], [5, 1, 0, 0]])
        noisy = t2t_phrase.layers.WordDropout(0.1)(ids, training=True)  # (2, 4)
        ```
    """

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0 <= rate < 1:
            raise ValueError(f"rate must be in [0, 1), got {rate}.")
        self.rate = rate
        if rate:
            self.seed_generator = keras.random.SeedGenerator()
        self.built = True

    def call(self, ids: Any, training: bool = False) -> Any:
        """Replace tokens."""
        if not (training and self.rate):
            return ids
        shape = ops.shape(ids)
        bits = random_bits(places(shape), self.seed_generator.next())
        dropped = ops.reshape(bits < ops.cast(drop_threshold(self.rate), "uint16"), shape)
        dropped = ops.logical_and(dropped, ids > EOS_ID)
        return ops.where(dropped, ops.cast(UNK_ID, ids.dtype), ids)

    def compute_output_shape(self, ids_shape: Any) -> Any:
        """Return the shape of the input."""
        return ids_shape

    def compute_output_spec(self, ids: Any, training: bool = False) -> keras.KerasTensor:
        """Return the shape and the type of the input; Keras would assume floats."""
        del training
        return keras.KerasTensor(ids.shape, dtype=ids.dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "rate": self.rate}
