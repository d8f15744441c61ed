"""Multi-granularity self-attention: some heads attend to tokens, others to segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from t2t_phrase.layers.attention.layout import TOKENS, Layout, Units
from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.given import given
from t2t_phrase.layers.common.implicit_masks import ATTENTION, ImplicitMasks, MaskArgument
from t2t_phrase.layers.common.initializers import kernel_initializer
from t2t_phrase.layers.common.sublayers import build_once, deserialize_sublayers
from t2t_phrase.layers.granularities.head_dense import HeadDense
from t2t_phrase.ops.attention import (
    attention_context,
    attention_logits,
    attention_weights,
    merge_heads,
    split_heads,
    split_key_heads,
    split_value_heads,
)
from t2t_phrase.ops.masks import same_pair_mask
from t2t_phrase.ops.ngram_masks import with_all_axes
from t2t_phrase.ops.partition import segment_pairs


@keras.saving.register_keras_serializable(package="t2t_phrase")
class MultiGranularityAttention(ImplicitMasks, keras.layers.Layer):
    """Self-attention whose heads attend to tokens, or to the segments of a partition.

    Hao et al. (2019), Eq. (4) to (8) and (11). For a head of tokens, as in `MultiHeadAttention`;
    for a head h whose partition has the segments p_1, ..., p_M:

        g_m = COM_h(p_m W_F),  H_g = REC_h(g_1, ..., g_M)
        O_h = softmax(H W_Q (H_g W_K)^T / sqrt(d_k)) H_g W_V

    The outputs of all heads are concatenated and multiplied by W_O. No map has a bias.

    Differs from the paper: W_F. Eq. (8) gives g_m the width of a head, d_k, but does not say how
    the tokens, of width D, are brought to this width; here each head maps them first. Like F_h in
    Eq. (4), W_F, COM and REC have separate weights for each head. W_K and W_V have d_k rows for a
    head of segments; with D rows, as below Eq. (1), they would not fit g_m.

    Differs from the paper: W_O. Eq. (7) only concatenates the heads; the Transformer, which the
    paper extends, multiplies them by W_O.

    Shapes: B batch, S tokens, P rows for segments, D `hidden_size`, H heads, G of which attend to
    segments, $d_k = D / H$, N partitions.

    Args:
        hidden_size: D, a multiple of H.
        heads: for each of the H heads the name of its partition, or "tokens".
        partitions: the names of the N partitions, in the order of `membership`.
        composition: COM, for G heads; a layer that follows the protocol of `MaxComposition`.
        interaction: REC, for G heads, see `HeadLSTM`. None: $H_g = G_x$.
        dropout: probability of dropping an attention weight, in [0, 1).
        initializer_gain: scale of the initial variance of W_Q, W_K and W_V; fairseq's is 0.5.

    Call arguments:
        x: (B, S, D) float.
        membership: (B, N, P, S) bool, which tokens the segments of each partition contain, P <= S.
        attention_mask: bool, broadcastable to (B, 1, 1, S), True at tokens. None = everywhere.
            Where rows hold several sentences, (B, 1, S, S), which keeps these apart.
        training: whether dropout is active.
        pairs: (B, S) int, where rows hold several sentences: the number of each token's sentence, 0
            at padding, which keeps their segments apart; $P = S$ then. None: rows are sentences.

    Returns:
        (output, weights, segments): (B, S, D); (B, H, S, S) float32 before dropout, in which the
        first P columns of a head of segments are those segments; and g_m of the heads of segments,
        (B, G, P, d_k).

    Raises:
        ValueError: D is not a multiple of H, heads of tokens are not the first ones, a head has an
            unknown partition, or no head attends to segments.

    Example:
        ```python
        attention = t2t_phrase.layers.MultiGranularityAttention(
            hidden_size=64,
            heads=("tokens", "tokens", "phrases", "phrases"),
            partitions=("phrases",),
            composition=t2t_phrase.layers.MaxComposition(num_heads=2),
            interaction=t2t_phrase.layers.HeadLSTM(num_heads=2),
        )
        phrases = ops.array([[[[1, 1, 0, 0, 0], [0, 0, 1, 1, 1]]]], "bool")  # (1, 1, 2, 5)
        x = keras.random.normal((1, 5, 64))
        y, weights, segments = attention(x, phrases)  # (1, 5, 64), (1, 4, 5, 5), (1, 2, 2, 16)
        ```
    """

    implicit_masks = (("x", ATTENTION), ("x", MaskArgument("membership", 4)))

    def __init__(
        self,
        *,
        hidden_size: int,
        heads: Sequence[str],
        partitions: Sequence[str],
        composition: keras.layers.Layer,
        interaction: keras.layers.Layer | None = None,
        dropout: float = 0.0,
        initializer_gain: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        if not heads or hidden_size % len(heads):
            raise ValueError(
                f"hidden_size must be a multiple of the number of heads, at least 1, got "
                f"{hidden_size} and {len(heads)}."
            )
        if sorted(heads, key="tokens".__ne__) != list(heads):
            raise ValueError(f"heads that attend to tokens must come first, got {list(heads)}.")
        if unknown := sorted({*heads} - {"tokens", *partitions}):
            raise ValueError(
                f"heads name unknown partitions {unknown}; the partitions are {list(partitions)}."
            )
        self.hidden_size = hidden_size
        self.heads = list(heads)
        self.partitions = list(partitions)
        self.composition = composition
        self.interaction = interaction
        self.dropout = dropout
        self.initializer_gain = initializer_gain
        self.num_heads = len(heads)
        self.head_size = hidden_size // self.num_heads
        self.token_heads = self.heads.count("tokens")
        self.segment_heads = self.num_heads - self.token_heads
        if not self.segment_heads:
            raise ValueError("no head attends to segments; use MultiHeadAttention.")
        self.query_map = self._map("query", self.num_heads, initializer_gain)
        self.output_map = self._map("output", self.num_heads)
        self.segment_map = self._map("segment", self.segment_heads)  # W_F
        self.segment_key_map = self._head_map("segment_key")
        self.segment_value_map = self._head_map("segment_value")
        self.key_map = self.value_map = None
        if self.token_heads:
            self.key_map = self._map("key", self.token_heads, initializer_gain)
            self.value_map = self._map("value", self.token_heads, initializer_gain)
        self.weight_dropout = Dropout(dropout, dtype=self.dtype_policy)

    @property
    def layout(self) -> Layout:
        """The layout of the attention weights."""
        columns = (TOKENS if name == "tokens" else Units(partition=name) for name in self.heads)
        return Layout(num_heads=self.num_heads, columns_by_head=tuple(columns))

    def _map(self, name: str, heads: int, gain: float = 1.0) -> Dense:
        return Dense(
            heads * self.head_size,
            use_bias=False,
            kernel_initializer=kernel_initializer(gain),
            dtype=self.dtype_policy,
            name=name,
        )

    def _head_map(self, name: str) -> HeadDense:
        return HeadDense(
            num_heads=self.segment_heads,
            units=self.head_size,
            initializer_gain=self.initializer_gain,
            dtype=self.dtype_policy,
            name=name,
        )

    def build(self, x_shape: Any, membership_shape: Any = None) -> None:
        """Create all maps and the weights of the composition and the interaction."""
        wide = (*x_shape[:-1], self.hidden_size)
        for dense in (self.query_map, self.key_map, self.value_map, self.output_map):
            if dense is not None:
                build_once(dense, wide)
        build_once(self.segment_map, wide)
        by_head = (None, self.segment_heads, None, self.head_size)
        for layer in (
            self.composition,
            self.interaction,
            self.segment_key_map,
            self.segment_value_map,
        ):
            if layer is not None:
                build_once(layer, by_head)
        self.built = True

    def call(
        self,
        x: Any,
        membership: Any,
        attention_mask: Any | None = None,
        training: bool = False,
        pairs: Any | None = None,
    ) -> tuple[Any, Any, Any]:
        """Attend from every token to tokens and segments."""
        length = ops.shape(x)[1]
        of_heads = self._membership_of_heads(membership)
        tokens = split_value_heads(self.segment_map(x), self.segment_heads)  # (B, G, S, d_k)
        segments = self.composition(tokens, of_heads)  # (B, G, P, d_k)
        continues = None
        if pairs is None:
            mask = ops.any(of_heads, axis=-1)[:, :, None, :]  # (B, G, 1, P)
        else:
            of_segments = segment_pairs(of_heads, pairs)  # (B, G, P)
            mask = same_pair_mask(pairs, of_segments)  # (B, G, S, P)
            before = ops.pad(of_segments[..., :-1], [(0, 0), (0, 0), (1, 0)])
            continues = ops.equal(of_segments, before)
        related = segments
        if self.interaction is not None:
            related = self.interaction(segments, **given(continues=continues))
        # Padded from P to S, so that heads of segments are as wide as heads of tokens.
        missing = length - ops.shape(membership)[2]
        key, value = (
            ops.pad(head_map(related), [(0, 0), (0, 0), (0, missing), (0, 0)])
            for head_map in (self.segment_key_map, self.segment_value_map)
        )
        key = ops.transpose(key, (0, 1, 3, 2))  # (B, G, d_k, S)
        mask = ops.pad(mask, [(0, 0), (0, 0), (0, 0), (0, missing)])
        if self.key_map is not None and self.value_map is not None:
            of_tokens = split_key_heads(self.key_map(x), self.token_heads)
            key = ops.concatenate([of_tokens, key], axis=1)
            of_tokens = split_value_heads(self.value_map(x), self.token_heads)
            value = ops.concatenate([of_tokens, value], axis=1)
            mask = ops.concatenate([self._token_mask(attention_mask, x), mask], axis=1)
        scale = ops.cast(self.head_size**-0.5, self.compute_dtype)
        query = split_heads(self.query_map(x) * scale, self.num_heads)  # (B, S, H, d_k)
        weights = attention_weights(attention_logits(query, key), mask)
        context = attention_context(self.weight_dropout(weights, training=training), value)
        return self.output_map(merge_heads(context)), weights, segments

    def _membership_of_heads(self, membership: Any) -> Any:
        """Return (B, G, P, S): the partition of each head of segments."""
        places = [self.partitions.index(name) for name in self.heads[self.token_heads :]]
        return ops.take(membership, ops.convert_to_tensor(places, "int32"), axis=1)

    def _token_mask(self, attention_mask: Any | None, x: Any) -> Any:
        """Return (B, H - G, 1, S) bool; (B, H - G, S, S) where rows hold several sentences."""
        batch, length, _ = ops.shape(x)
        if attention_mask is None:
            attention_mask = ops.ones((1, 1, 1, 1), "bool")
        attention_mask = with_all_axes(attention_mask)
        queries = ops.shape(attention_mask)[2]
        return ops.broadcast_to(attention_mask, (batch, self.token_heads, queries, length))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        serialize = keras.saving.serialize_keras_object
        return {
            **super().get_config(),
            "hidden_size": self.hidden_size,
            "heads": self.heads,
            "partitions": self.partitions,
            "composition": serialize(self.composition),
            "interaction": None if self.interaction is None else serialize(self.interaction),
            "dropout": self.dropout,
            "initializer_gain": self.initializer_gain,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> MultiGranularityAttention:
        """Build from `get_config`'s result."""
        return cls(**deserialize_sublayers(config))
