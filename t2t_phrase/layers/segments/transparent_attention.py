"""Transparent attention: each decoder layer reads its own mixture of all encoder layers."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="t2t_phrase")
class TransparentAttention(keras.layers.Layer):
    """Transparent attention: learned, softmax-normalised mixtures of several memories.

    Bapna et al. (2018); Xu et al. (2020), Eq. (6):

        output_j = sum_i softmax(w_j)_i memory_i

    The weights are equal at initialisation.

    Shapes: B batch, M memories, N `readers`, P positions, D width.

    Args:
        readers: N, the number of mixtures.
        memories: M, the number of memories.

    Call arguments:
        x: (B, M, P, D) float.

    Returns:
        (B, N, P, D) float.

    Example:
        ```python
        mixtures = t2t_phrase.layers.TransparentAttention(readers=3, memories=2)
        of_layers = [keras.random.normal((2, 7, 64)) for _ in range(2)]
        for_readers = mixtures(ops.stack(of_layers, axis=1))  # (2, 3, 7, 64)
        weights = mixtures.weights_of_memories()  # (3, 2)
        ```
    """

    def __init__(self, *, readers: int, memories: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.readers = readers
        self.memories = memories

    def build(self, x_shape: Any = None) -> None:
        """Create the weights (N, M)."""
        self.logits = self.add_weight(
            name="weights", shape=(self.readers, self.memories), initializer="zeros"
        )
        self.built = True

    def weights_of_memories(self) -> Any:
        """Return $softmax(w)$, (N, M) float32."""
        return ops.softmax(ops.cast(ops.convert_to_tensor(self.logits), "float32"), axis=-1)

    def call(self, x: Any) -> Any:
        """Return the mixtures."""
        batch, _, length, width = ops.shape(x)
        weights = ops.cast(self.weights_of_memories(), x.dtype)
        mixed = ops.matmul(weights, ops.reshape(x, (batch, self.memories, length * width)))
        return ops.reshape(mixed, (batch, self.readers, length, width))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "readers": self.readers, "memories": self.memories}
