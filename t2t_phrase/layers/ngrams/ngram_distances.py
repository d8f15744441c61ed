"""Relative positions of n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.common.initializers import kernel_initializer
from t2t_phrase.ops.look_up import look_up


@keras.saving.register_keras_serializable(package="t2t_phrase")
class NgramDistances(keras.layers.Layer):
    """Relative position representations of n-grams.

    Shaw et al. (2018), Eq. (3) and (4), extended to n-grams: for a query that ends at i, the
    vectors a^K_n and a^V_n at $clip(j - i)$ are added to the key and the value of the n-gram of
    order n that ends at j. Each order has its own vectors, shared by its heads and by all query
    orders. Nguyen and Joty (2018) use absolute positions only.

    Shapes: R queries, S memory positions, h_n heads of order n, w_n width of its keys.

    Args:
        max_relative_position: the distance beyond which all distances are alike, at least 1.
        key_widths: w_n of each order.
        value_width: d_k.

    Raises:
        ValueError: `max_relative_position` is below 1.
    """

    def __init__(
        self,
        *,
        max_relative_position: int,
        key_widths: Sequence[int],
        value_width: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if max_relative_position < 1:
            raise ValueError(
                f"max_relative_position must be at least 1, got {max_relative_position}."
            )
        self.max_relative_position = max_relative_position
        self.key_widths = tuple(key_widths)
        self.value_width = value_width

    def build(self, input_shape: Any = None) -> None:
        """Create two tables of 2 * max_relative_position + 1 vectors for each order."""
        rows = 2 * self.max_relative_position + 1
        self.keys = [
            self.add_weight(
                name=f"key_{place}",
                shape=(rows, width),
                initializer=kernel_initializer(),
                autocast=False,
            )
            for place, width in enumerate(self.key_widths)
        ]
        self.values = [
            self.add_weight(
                name=f"value_{place}",
                shape=(rows, self.value_width),
                initializer=kernel_initializer(),
                autocast=False,
            )
            for place in range(len(self.key_widths))
        ]
        self.built = True

    def between(self, query_ends: Any, ngram_ends: Any) -> Any:
        """Return (R, S) indices into the tables for the ends of queries (R,) and n-grams (S,)."""
        limit = self.max_relative_position
        return ops.clip(ngram_ends[None, :] - query_ends[:, None], -limit, limit) + limit

    def logits(self, queries: Sequence[Any], distance: Any) -> list[Any]:
        """Return each order's (B, h_n, R, S) from its scaled queries (B, R, h_n, w_n)."""
        return [
            ops.einsum("brhd,rsd->bhrs", query, self._look_up(table, distance))
            for query, table in zip(queries, self.keys, strict=True)
        ]

    def context(self, weights: Sequence[Any], distance: Any) -> list[Any]:
        """Return each order's (B, R, h_n, d_k) from its weights (B, h_n, R, S)."""
        return [
            ops.einsum(
                "bhrs,rsd->brhd",
                ops.cast(weight, self.compute_dtype),
                self._look_up(table, distance),
            )
            for weight, table in zip(weights, self.values, strict=True)
        ]

    def _look_up(self, table: Any, distance: Any) -> Any:
        return look_up(table, distance, self.compute_dtype)  # (R, S, w_n)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "max_relative_position": self.max_relative_position,
            "key_widths": self.key_widths,
            "value_width": self.value_width,
        }
