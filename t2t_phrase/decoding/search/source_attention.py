"""The source tokens that a model attends to, for any kinds of attention.

Shapes: B batch, H heads, R rows (the beams of one step, or the tokens of a target), C columns, S
source length, P segments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keras import ops

from t2t_phrase.config import UserError
from t2t_phrase.io.line_counts import counted
from t2t_phrase.layers.attention.blocks import split_blocks
from t2t_phrase.layers.attention.layout import Layout, Units
from t2t_phrase.ops.position import positions

Weights = Mapping[str, Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class SourceAttention:
    """The layers and heads by which a decoder attends to source tokens.

    Attributes:
        layers: (name, number from 0, layout) of each layer, named as in `attention_maps`.
        heads: numbers of the heads that count, from 0; (): all.
    """

    layers: tuple[tuple[str, int, Layout], ...]
    heads: tuple[int, ...] = ()

    @property
    def reads_partitions(self) -> bool:
        """Whether `partitions` are needed."""
        return any(units.partition for _, _, layout in self.layers for units in layout.all_columns)

    def partitions(self, model: Any, features: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the partitions of the source that `accumulate` needs."""
        return model.partitions(features) if self.reads_partitions else {}

    def accumulate(self, weights: Weights, partitions: Mapping[str, Any]) -> Any:
        """Return (B, R, S) float32: the sum over layers and heads of the weights on source tokens.

        Args:
            weights: of a `Step`, or from `attention_weights`.
            partitions: of the source, (B, P, S) bool by name.
        """
        parts = [
            token_weights(weights[name][number], layout, partitions, heads=self.heads)
            for name, number, layout in self.layers
        ]
        return sum(parts[1:], start=parts[0])


def source_attention(
    model: Any, *, layers: Sequence[int] = (), heads: Sequence[int] = ()
) -> SourceAttention:
    """Return the attention of a model from target to source.

    Args:
        model: an `EncoderDecoder`.
        layers: numbers of the layers, from 1; (): all.
        heads: numbers of the heads of each layer, from 1; (): all.

    Raises:
        UserError: the model has no such attention, no such layer, or no such head.
    """
    numbered = list(_numbered_layers(model))
    if not numbered:
        raise UserError(
            f"{type(model).__name__} exposes no attention from target to source, so alignments "
            "cannot be derived"
        )
    _check("alignment_layers", layers, max(number for number, _ in numbered), "layer")
    chosen = [layer for number, layer in numbered if not layers or number in layers]
    for _, _, layout in chosen:
        _check("alignment_heads", heads, max(layout.num_heads, 1), "head", " in each layer")
    return SourceAttention(tuple(chosen), tuple(head - 1 for head in heads))


def _numbered_layers(model: Any) -> Iterator[tuple[int, tuple[str, int, Layout]]]:
    """Yield the number of each layer, consecutive across the members of an ensemble, and the layer.

    A layer with two attentions to the source is yielded twice.
    """
    joined = model.attention_maps()
    seen: dict[str, int] = {}
    earlier = 0
    for member in getattr(model, "models", (model,)):
        count = 0
        for name, attention in member.attention_maps().items():
            if (attention.rows, attention.columns) != ("target", "source"):
                continue
            for number in range(1, len(attention.layouts) + 1):
                place = seen.get(name, 0)
                seen[name] = place + 1
                yield earlier + number, (name, place, joined[name].layouts[place])
            count = max(count, len(attention.layouts))
        earlier += count


def token_weights(
    weights: Any, layout: Layout, partitions: Mapping[str, Any], *, heads: Sequence[int] = ()
) -> Any:
    """Return (B, R, S) float32: the weights of one layer, spread over source tokens.

    They are summed over heads and over the query n-grams that end at the same token. The weight on
    an n-gram or a segment is spread evenly over the tokens that it consists of.

    Args:
        weights: (B, H, rows, C) as the layer returns them; (B, rows, C) without heads.
        layout: of these weights.
        partitions: those that the layout names, (B, P, S) bool.
        heads: numbers of the heads that count, from 0; (): all.
    """
    if not layout.num_heads:
        weights = weights[:, None]
    weights = ops.cast(weights, "float32")
    if heads:
        weights = ops.take(weights, list(heads), axis=1)
        if layout.columns_by_head:
            layout = dataclasses.replace(
                layout, columns_by_head=tuple(layout.columns_by_head[head] for head in heads)
            )
    parts = [
        _spread(ops.sum(block, axis=1), units, partitions)
        for row in split_blocks(weights, layout)
        for block, units in zip(row, layout.all_columns, strict=True)
    ]
    return sum(parts[1:], start=parts[0])


def strongest(weights: Any) -> Any:
    """Return (B, R) int32: where the highest weight of (B, R, S) is, the first of equal ones."""
    return ops.cast(ops.argmax(weights, axis=-1), "int32")


def _spread(weights: Any, units: Units, partitions: Mapping[str, Any]) -> Any:
    """Return (B, R, S) from weights (B, R, C) on units of the source."""
    if units.partition:
        membership = ops.cast(partitions[units.partition], "float32")  # (B, P, S)
        sizes = ops.maximum(ops.sum(membership, axis=-1, keepdims=True), 1.0)
        # If other heads have more columns, only the first columns are segments.
        weights = weights[..., : ops.shape(membership)[1]]
        return ops.matmul(weights, membership / sizes)
    if units.order == 1:
        return weights
    length = ops.shape(weights)[-1]
    # An n-gram that begins before the sentence has fewer tokens.
    sizes = ops.minimum(positions(length) + 1, units.order)
    shares = weights / ops.cast(sizes, "float32")
    longer = ops.pad(shares, [(0, 0), (0, 0), (0, units.order - 1)])
    # Token s is in the n-grams that end at s, ..., s + n - 1.
    parts = [longer[..., ahead : ahead + length] for ahead in range(units.order)]
    return sum(parts[1:], start=parts[0])


def _check(option: str, numbers: Sequence[int], count: int, noun: str, where: str = "") -> None:
    for number in numbers:
        if not 1 <= number <= count:
            raise UserError(
                f"{option}={list(numbers)}: there is no {number}; the model has "
                f"{counted(count, noun)}{where}, numbered from 1"
            )
