"""How attention weights are laid out: which rows and columns belong to phrases of which order.

Shapes: B batch, H heads, h_n heads that attend to order n, T queries, S memory positions, P phrases
of a partition, M and N orders of queries and memory.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.ngrams.heterogeneous import Heterogeneous
from t2t_phrase.layers.ngrams.homogeneous import Homogeneous
from t2t_phrase.layers.ngrams.interleaved import Interleaved
from t2t_phrase.models.phrase_representation import PhraseRepresentationTransformer

ATTENTIONS = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
    "encoder_phrases": "encoder's attention to phrases",
    "decoder_phrases": "decoder's attention to phrases",
    "pooling": "pooling of tokens",
}


@dataclasses.dataclass(frozen=True)
class Layout:
    """The layout of one layer's attention weights.

    Attributes:
        structure: "plain": (B, H, T, S). "segments": (B, H, T, P), to the P phrases of a partition.
            "pooling": (B, P, S), from these. "homogeneous": as "plain", each head for one order.
            "heterogeneous": (B, H, T, N S), the orders of the memory one after the other.
            "interleaved": (B, H, M T, N S), those of the queries likewise.
        query_orders: ascending.
        key_orders: ascending.
        head_counts: homogeneous only: how many heads attend to each of `key_orders`.
    """

    structure: Literal[
        "plain", "segments", "pooling", "homogeneous", "heterogeneous", "interleaved"
    ]
    query_orders: tuple[int, ...] = (1,)
    key_orders: tuple[int, ...] = (1,)
    head_counts: tuple[int, ...] = ()

    @property
    def has_phrases(self) -> bool:
        """Whether phrases of a higher order stand beside tokens."""
        return max(*self.query_orders, *self.key_orders) > 1

    def order_of_head(self, head: int) -> int:
        """Return the order that a head of a homogeneous attention attends to."""
        return int(np.repeat(self.key_orders, self.head_counts)[head])


def layout_of(layer: Any) -> Layout:
    """Return the layout of the weights that an attention layer returns.

    Raises:
        UserError: it is a layer of another kind.
    """
    if isinstance(layer, Interleaved):
        return Layout("interleaved", layer.query_orders, layer.orders)
    if isinstance(layer, Heterogeneous):
        return Layout("heterogeneous", key_orders=layer.orders)
    if isinstance(layer, Homogeneous):
        return Layout("homogeneous", key_orders=layer.orders, head_counts=layer.head_counts)
    if isinstance(layer, MultiHeadAttention):
        return Layout("plain")
    raise UserError(
        f"attention {type(layer).__name__}: insights can read plain, homogeneous, heterogeneous "
        "and interleaved attention only"
    )


def model_layouts(model: Any) -> dict[str, list[Layout]]:
    """Return the layouts of what `model.attention_weights` returns, under the same names.

    Args:
        model: see `models.transformer.Transformer`.

    Raises:
        UserError: the model has an attention of another kind.
    """
    layouts = {
        "encoder": [layout_of(layer.self_attention) for layer in model.encoder_layers],
        "decoder": [layout_of(layer.self_attention) for layer in model.decoder_layers],
        "cross": [layout_of(layer.cross_attention) for layer in model.decoder_layers],
    }
    if isinstance(model, PhraseRepresentationTransformer):
        depth = len(model.encoder_layers)
        layouts["encoder_phrases"] = [Layout("segments")] * depth
        layouts["decoder_phrases"] = [Layout("segments")] * len(model.decoder_layers)
        layouts["pooling"] = [Layout("pooling")] * (depth + 1)
    return layouts


def split_blocks(weights: Any, layout: Layout) -> list[list[Any]]:
    """Return the weights block by block: in row m, column n those from order m to order n.

    In a block (B, h_n, T, S), query and key phrases stand at the place of their last token.

    Args:
        weights: (B, H, ...) as the layer returns them; a NumPy array or a tensor.
        layout: theirs.
    """
    if layout.structure == "homogeneous":
        ends = np.cumsum(layout.head_counts)
        return [
            [weights[:, end - n : end] for n, end in zip(layout.head_counts, ends, strict=True)]
        ]
    queries = weights.shape[2] // len(layout.query_orders)
    keys = weights.shape[3] // len(layout.key_orders)
    return [
        [
            weights[:, :, m * queries : (m + 1) * queries, n * keys : (n + 1) * keys]
            for n in range(len(layout.key_orders))
        ]
        for m in range(len(layout.query_orders))
    ]
