"""The base class of Luong's attention scores."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.initializers import kernel_initializer, uniform


class Score(keras.layers.Layer):
    """A function of a decoder state and an encoder state: the logits of attention.

    Luong et al. (2015), Section 3.1. A subclass implements `logits`, and the other methods if its
    queries or keys are not the states themselves.

    Shapes: B batch, T queries, S memory positions, N positions of a window, U width of the decoder
    states, M width of the encoder states, A width of queries and keys.

    Args:
        initial_range: if positive, all weights start uniformly distributed in +-`initial_range`; 0:
            they start as those of `MultiHeadAttention`.

    Call arguments:
        query: (B, T, U) float, decoder states.
        memory: (B, S, M) float, encoder states.

    Returns:
        (B, T, S) float.
    """

    # Whether a window of the memory can be scored by itself.
    scores_windows = True

    def __init__(self, *, initial_range: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.initial_range = initial_range

    def call(self, query: Any, memory: Any) -> Any:
        """Score every position for every query."""
        keys = self.project_memory(memory)
        keys = memory if keys is None else keys
        return self.logits(self.project_query(query), keys, ops.shape(memory)[1])

    def project_query(self, query: Any) -> Any:
        """Return the queries as `logits` compares them: (B, T, A)."""
        return query

    def project_memory(self, memory: Any) -> Any | None:
        """Return the keys (B, S, A); None: they are the memory itself."""
        del memory
        return None

    def key_width(self, memory_width: int) -> int:
        """Return A, for keys of a memory that is `memory_width` wide."""
        return memory_width

    def logits(self, query: Any, keys: Any, length: Any) -> Any:
        """Return the scores, (B, T, S) or (B, T, N).

        Args:
            query: from `project_query`.
            keys: (B, S, A), or those of each query's window (B, T, N, A).
            length: S or N.
        """
        raise NotImplementedError

    def add_map(self, name: str, shape: tuple[int, ...]) -> keras.Variable:
        """Create a matrix or a vector."""
        default = kernel_initializer()
        initializer = uniform(self.initial_range) or default
        return self.add_weight(name=name, shape=shape, initializer=initializer)

    def value(self, variable: keras.Variable) -> Any:
        """Return a variable as a tensor of the compute dtype."""
        return ops.cast(ops.convert_to_tensor(variable), self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "initial_range": self.initial_range}
