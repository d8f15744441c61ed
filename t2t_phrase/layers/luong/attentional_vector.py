"""The base class of Luong's global and local attention."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.attention.layout import Layout
from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.implicit_masks import ATTENTION, ImplicitMasks
from t2t_phrase.layers.common.initializers import kernel_initializer, uniform
from t2t_phrase.layers.common.sublayers import build_once, deserialize_sublayers
from t2t_phrase.layers.luong.score import Score
from t2t_phrase.ops.linear import map_states
from t2t_phrase.ops.position import positions, positions_at

Cache = dict[str, Any]


class AttentionalVector(ImplicitMasks, keras.layers.Layer):
    """Base of Luong's attention, which ends in the attentional vector.

    Luong et al. (2015), Eq. (5):

        h~_t = tanh(W_c [c_t; h_t])

    with the context c_t, the mean of the memory under the attention weights. W_c has no bias. A
    subclass computes weights and context in `attend_at`. The protocol is that of
    `MultiHeadAttention`, for a memory that does not change.

    Shapes: B batch, T queries, S memory positions, U `units`, M width of the memory, K beams.

    Args:
        units: U, width of the decoder states and of h~.
        score: compares decoder and encoder states.
        initial_range: see `Score`.

    Call arguments:
        query: (B, T, U) float, decoder states.
        memory: (B, S, M) float, encoder states.
        attention_mask: bool, broadcastable to (B, 1, T, S); True = may attend. None = everywhere.
        training: has no effect, as there is no dropout.

    Returns:
        (h~ (B, T, U), weights (B, 1, T, S) float32).
    """

    implicit_masks = (("memory", ATTENTION),)

    def __init__(
        self, *, units: int, score: Score, initial_range: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = units
        self.score = score
        self.initial_range = initial_range
        self.combine = Dense(
            units,
            activation="tanh",
            use_bias=False,
            kernel_initializer=uniform(initial_range) or kernel_initializer(),
            dtype=self.dtype_policy,
            name="combine",
        )

    @property
    def layout(self) -> Layout:
        """The layout of the attention weights."""
        return Layout(num_heads=1)

    def build(self, query_shape: Any, memory_shape: Any) -> None:
        """Create the weights of the score and W_c."""
        build_once(self.score, query_shape, memory_shape)
        self.combine.build((*query_shape[:-1], self.units + memory_shape[-1]))
        self.built = True

    def call(
        self, query: Any, memory: Any, attention_mask: Any | None = None, training: bool = False
    ) -> tuple[Any, Any]:
        """Attend from every query to the memory."""
        return self.attend(query, self.project_memory(memory), attention_mask, training=training)

    def project_memory(self, memory: Any) -> Cache:
        """Return the memory and, unless the score uses the memory itself as keys, its keys."""
        memory = ops.cast(memory, self.compute_dtype)
        keys = self.score.project_memory(memory)
        return {"memory": memory} if keys is None else {"memory": memory, "key": keys}

    def attend(
        self,
        query: Any,
        projected: Cache,
        attention_mask: Any | None = None,
        training: bool = False,
    ) -> tuple[Any, Any]:
        """Attend from the states (B, T, U) of a whole sentence, from its first token on."""
        del training
        return self.finish(query, projected, attention_mask, positions(ops.shape(query)[1]))

    def at_time(self, projected: Cache, index: Any) -> Cache:
        """Return the inputs of `attend_step` from a memory projected for a whole sentence.

        Args:
            projected: as for `attend`.
            index: the time of the only query.
        """
        del index
        return projected

    def start_queries(self, batch_size: Any, beam_size: int) -> Cache:
        """Return the state that `attend_step` keeps of earlier queries: none."""
        del batch_size, beam_size
        return {}

    def attend_step(
        self, query: Any, queries: Cache, index: Any, projected: Cache, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Attend from the current token of every beam.

        Args:
            query: (B, K, U).
            queries: from `start_queries`.
            index: the current time.
            projected: from `project_memory`.
            attention_mask: bool, broadcastable to (B, 1, K, S).

        Returns:
            (h~ (B, K, U), weights (B, 1, K, S), queries).
        """
        places = positions_at(index, ops.shape(query)[1])
        output, weights = self.finish(query, projected, attention_mask, places)
        return output, weights, queries

    def reorder_queries(self, queries: Cache, parents: Any) -> Cache:
        """Return the state of `attend_step` for new beams: none."""
        del parents
        return queries

    def finish(
        self, query: Any, projected: Cache, attention_mask: Any | None, places: Any
    ) -> tuple[Any, Any]:
        """Return h~ and the weights of queries at these positions (T,) of the target."""
        query = ops.cast(query, self.compute_dtype)
        context, weights = self.attend_at(query, projected, attention_mask, places)
        return map_states(self.combine, ops.concatenate([context, query], axis=-1)), weights

    def attend_at(
        self, query: Any, projected: Cache, attention_mask: Any | None, places: Any
    ) -> tuple[Any, Any]:
        """Return the contexts (B, T, M) and the weights (B, 1, T, S) float32.

        Args:
            query: (B, T, U), of the compute dtype.
            projected: from `project_memory`.
            attention_mask: see the class.
            places: (T,) int, the position of each query in the target.
        """
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "units": self.units,
            "score": keras.saving.serialize_keras_object(self.score),
            "initial_range": self.initial_range,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> AttentionalVector:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
