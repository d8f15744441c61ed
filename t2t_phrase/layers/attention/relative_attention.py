"""Self-attention with relative positions."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.attention.multi_head_attention import Cache, MultiHeadAttention
from t2t_phrase.layers.common.initializers import kernel_initializer
from t2t_phrase.ops.attention import attention_context, attention_logits
from t2t_phrase.ops.look_up import look_up
from t2t_phrase.ops.position import positions, positions_at


@keras.saving.register_keras_serializable(package="t2t_phrase")
class RelativeMultiHeadAttention(MultiHeadAttention):
    """Multi-head self-attention with relative position representations.

    Shaw et al. (2018), Eq. (3) and (4), with a^K and a^V shared by all heads:

        logit_ij = q_i (k_j + a^K_{clip(j-i)}) / sqrt(d_k)
        output_i = sum_j weight_ij (v_j + a^V_{clip(j-i)})

    where clip limits the distance to +-`max_relative_position`. Call arguments and result are those
    of `MultiHeadAttention`, with $T = S$.

    Args:
        max_relative_position: the distance beyond which all distances are alike, at least 1.
        **kwargs: as for `MultiHeadAttention`.

    Raises:
        ValueError: `max_relative_position` is below 1.

    Example:
        ```python
        attention = t2t_phrase.layers.RelativeMultiHeadAttention(
            num_heads=4, hidden_size=64, max_relative_position=16
        )
        x = keras.random.normal((2, 7, 64))
        causal = ops.arange(7)[:, None] >= ops.arange(7)  # (7, 7)
        output, weights = attention(x, x, attention_mask=causal)  # (2, 7, 64), (2, 4, 7, 7)
        ```
    """

    def __init__(self, *, max_relative_position: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if max_relative_position < 1:
            raise ValueError(
                f"max_relative_position must be at least 1, got {max_relative_position}."
            )
        self.max_relative_position = max_relative_position

    def build(self, query_shape: Any, memory_shape: Any = None) -> None:
        """Create the maps and the two tables of 2 * max_relative_position + 1 vectors."""
        super().build(query_shape, memory_shape)
        shape = (2 * self.max_relative_position + 1, self.head_size)
        self.relative_key, self.relative_value = (
            self.add_weight(
                name=name, shape=shape, initializer=kernel_initializer(), autocast=False
            )
            for name in ("relative_key", "relative_value")
        )

    def call(
        self,
        query: Any,
        memory: Any,
        attention_mask: Any | None = None,
        training: bool = False,
        query_positions: Any | None = None,
        memory_positions: Any | None = None,
    ) -> tuple[Any, Any]:
        """Attend from every query to the memory, which must be the query itself."""
        # Distances within a sentence equal those within its row.
        del query_positions, memory_positions
        position = positions(ops.shape(query)[1])
        projected = self._with_distances(self.project_memory(memory), position, position)
        return self.attend(query, projected, attention_mask, training=training)

    def step(
        self, query: Any, cache: Cache, index: Any, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Add one token of every beam to the history and attend to it."""
        beam_size = ops.shape(query)[1]
        cache = self.remember(query, cache, index)
        memory_position = positions(ops.shape(cache["value"])[2], beam_size)
        query_position = positions_at(index, beam_size)
        projected = self._with_distances(cache, query_position, memory_position)
        output, weights = self.attend(query, projected, attention_mask)
        return output, weights, cache

    def logits(self, query: Any, projected: Cache) -> Any:
        """Return (B, H, T, S) from scaled queries (B, T, H, d_k) and the projected memory."""
        table = self._look_up(self.relative_key, projected)
        by_distance = ops.einsum("bthd,tsd->bhts", query, table)
        return attention_logits(query, projected["key"]) + by_distance

    def context(self, weights: Any, projected: Cache) -> Any:
        """Return (B, T, H, d_k) from weights (B, H, T, S) and the projected memory."""
        table = self._look_up(self.relative_value, projected)
        by_distance = ops.einsum("bhts,tsd->bthd", ops.cast(weights, table.dtype), table)
        return attention_context(weights, projected["value"]) + by_distance

    def _look_up(self, table: Any, projected: Cache) -> Any:
        return look_up(table, projected["distance"], self.compute_dtype)  # (T, S, d_k)

    def _with_distances(self, projected: Cache, query_position: Any, position: Any) -> Cache:
        limit = self.max_relative_position
        distance = ops.clip(position[None, :] - query_position[:, None], -limit, limit) + limit
        return {**projected, "distance": distance}

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "max_relative_position": self.max_relative_position}
