"""One layer of the decoder."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import keras

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.layers.common.given import given
from t2t_phrase.layers.common.implicit_masks import ATTENTION, ImplicitMasks, MaskArgument, Masks
from t2t_phrase.layers.common.residual import Residual
from t2t_phrase.layers.common.sublayers import build_once, deserialize_sublayers

# The positions of target and source tokens in their sentences, (B, T) and (B, S) int.
Positions = tuple[Any, Any]


@keras.saving.register_keras_serializable(package="t2t_phrase")
class DecoderLayer(ImplicitMasks, keras.layers.Layer):
    """Self-attention, attention to the source, feed-forward network, each in a residual connection.

    Vaswani et al. (2017), Section 3.1.

    Args:
        self_attention: a layer that follows the protocol of `MultiHeadAttention`.
        cross_attention: another such layer, which reads the encoder's output.
        feed_forward: maps (B, T, D) to (B, T, D).
        norm: "pre" or "post", see `Residual`.
        dropout: probability of dropping an output of a sublayer, in [0, 1).

    Call arguments:
        x: (B, T, D) float.
        memory: (B, S, D) float, the encoder's output.
        attention_mask: bool, broadcastable to (B, H, T, T); True = may attend.
        memory_mask: bool, broadcastable to (B, H, T, S).
        training: whether dropout is active.
        positions: ((B, T), (B, S)) int, the positions of the tokens of both sides in their
            sentences where rows hold several sentences, which the masks keep apart; None: each row
            is a sentence.

    Returns:
        (output (B, T, D), self-attention weights, cross-attention weights).

    Example:
        ```python
        layer = t2t_phrase.layers.DecoderLayer(
            self_attention=t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64),
            cross_attention=t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64),
            feed_forward=t2t_phrase.layers.FeedForward(hidden_size=64, filter_size=256),
        )
        x, memory = keras.random.normal((2, 5, 64)), keras.random.normal((2, 7, 64))
        causal = ops.arange(5)[:, None] >= ops.arange(5)
        output, *weights = layer(x, memory, attention_mask=causal)  # (2, 5, 64), ...
        own, to_source = weights  # (2, 4, 5, 5), (2, 4, 5, 7)
        ```
    """

    implicit_masks: ClassVar[Masks] = (("x", ATTENTION), ("memory", MaskArgument("memory_mask", 4)))

    def __init__(
        self,
        *,
        self_attention: keras.layers.Layer,
        cross_attention: keras.layers.Layer,
        feed_forward: FeedForward,
        norm: Literal["pre", "post"] = "pre",
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.norm = norm
        self.dropout = dropout
        shared = {"norm": norm, "dropout": dropout, "dtype": self.dtype_policy}
        self.self_residual = Residual(name="self_attention_residual", **shared)
        self.cross_residual = Residual(name="cross_attention_residual", **shared)
        self.feed_forward_residual = Residual(name="feed_forward_residual", **shared)

    def build(self, x_shape: Any, memory_shape: Any = None) -> None:
        """Create the weights of all sublayers."""
        build_once(self.self_attention, x_shape, x_shape)
        build_once(self.cross_attention, x_shape, memory_shape or x_shape)
        build_once(self.feed_forward, x_shape)
        for residual in (self.self_residual, self.cross_residual, self.feed_forward_residual):
            residual.build(x_shape)
        self.built = True

    def call(
        self,
        x: Any,
        memory: Any,
        attention_mask: Any | None = None,
        memory_mask: Any | None = None,
        training: bool = False,
        positions: Positions | None = None,
    ) -> tuple[Any, Any, Any]:
        """Apply all sublayers to whole sentences."""
        x, weights = self.attend_self(x, attention_mask, training, positions)
        x, cross_weights = self.attend_source(x, memory, memory_mask, training, positions)
        return self.feed(x, training), weights, cross_weights

    def attend_self(
        self,
        x: Any,
        attention_mask: Any | None,
        training: bool,
        positions: Positions | None = None,
    ) -> tuple[Any, Any]:
        """Apply the first sublayer; return (output, weights)."""
        normed = self.self_residual.before(x)
        own = None if positions is None else positions[0]
        attended, weights = self.self_attention(
            normed,
            normed,
            attention_mask=attention_mask,
            training=training,
            **given(query_positions=own, memory_positions=own),
        )
        return self.self_residual(x, attended, training=training), weights

    def attend_source(
        self,
        x: Any,
        memory: Any,
        memory_mask: Any | None,
        training: bool,
        positions: Positions | None = None,
    ) -> tuple[Any, Any]:
        """Apply the second sublayer; return (output, weights)."""
        own, of_memory = (None, None) if positions is None else positions
        attended, weights = self.cross_attention(
            self.cross_residual.before(x),
            memory,
            attention_mask=memory_mask,
            training=training,
            **given(query_positions=own, memory_positions=of_memory),
        )
        return self.cross_residual(x, attended, training=training), weights

    def feed(self, x: Any, training: bool = False) -> Any:
        """Apply the third sublayer."""
        fed = self.feed_forward(self.feed_forward_residual.before(x), training=training)
        return self.feed_forward_residual(x, fed, training=training)

    def project_memory(self, memory: Any) -> Cache:
        """Return the projection of the encoder's output (B, S, D), for `step`."""
        return self.cross_attention.project_memory(memory)

    def start_cache(self, batch_size: Any, beam_size: int, length: int) -> Cache:
        """Return the cache of `step` before the first of `length` tokens."""
        return {
            "self": self.self_attention.start_cache(batch_size, beam_size, length),
            "cross": self.cross_attention.start_queries(batch_size, beam_size),
        }

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Return the cache for new beams, which continue the beams `parents` (B, K)."""
        return {
            "self": self.self_attention.reorder(cache["self"], parents),
            "cross": self.cross_attention.reorder_queries(cache["cross"], parents),
        }

    def step(
        self,
        x: Any,
        cache: Cache,
        index: Any,
        *,
        projected: Cache,
        attention_mask: Any,
        memory_mask: Any,
    ) -> tuple[Any, dict[str, Any], Cache]:
        """Apply all sublayers to the current token of every beam.

        Args:
            x: (B, K, D) float.
            cache: from `start_cache`, `step` or `reorder`.
            index: the current time.
            projected: from `project_memory`.
            attention_mask: (B, 1, K, L * K) bool, see `ops.masks.history_mask`.
            memory_mask: bool, broadcastable to (B, H, K, S).

        Returns:
            (output, weights, cache): (B, K, D), the attention weights "decoder" and "cross", and
            the cache for the next step.
        """
        x, self_weights, history = self.step_self(x, cache["self"], index, attention_mask)
        x, cross_weights, queries = self.step_source(
            x, cache["cross"], index, projected, memory_mask
        )
        weights = {"decoder": self_weights, "cross": cross_weights}
        return self.feed(x), weights, {"self": history, "cross": queries}

    def step_self(
        self, x: Any, history: Cache, index: Any, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Apply the first sublayer to the current tokens; return (output, weights, history)."""
        attended, weights, history = self.self_attention.step(
            self.self_residual.before(x), history, index, attention_mask
        )
        return self.self_residual(x, attended), weights, history

    def step_source(
        self, x: Any, queries: Cache, index: Any, projected: Cache, memory_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Apply the second sublayer to the current tokens; return (output, weights, queries)."""
        attended, weights, queries = self.cross_attention.attend_step(
            self.cross_residual.before(x), queries, index, projected, memory_mask
        )
        return self.cross_residual(x, attended), weights, queries

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            "self_attention": serialize(self.self_attention),
            "cross_attention": serialize(self.cross_attention),
            "feed_forward": serialize(self.feed_forward),
            "norm": self.norm,
            "dropout": self.dropout,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> DecoderLayer:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
