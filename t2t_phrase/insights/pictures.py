"""Heat maps of one sentence and its translation: which there are, and what stands on their sides.

Shapes: H heads, T queries, S memory positions, P phrases of a partition, M and N orders of queries
and memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from t2t_phrase.config import UserError, nearest
from t2t_phrase.insights.heat_map import Group, heat_map
from t2t_phrase.insights.labels import START, Token, phrase_labels, segment_labels
from t2t_phrase.insights.layouts import ATTENTIONS, Layout, split_blocks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEAN, ALL = "mean", "all"
# Poolings have no heads.
ONLY = ""


class Picture(NamedTuple):
    """A figure and the name of its file, without an ending."""

    name: str
    figure: Figure


@dataclasses.dataclass(frozen=True)
class Choice:
    """Which attentions to draw.

    Attributes:
        attentions: some of `ATTENTIONS`; () = all that the model has.
        layers: counted from 1; () = all.
        heads: counted from 0, or MEAN, the mean over all.
    """

    attentions: tuple[str, ...] = ()
    layers: tuple[int, ...] = ()
    heads: tuple[int | str, ...] = (MEAN,)


def choose(
    layouts: Mapping[str, Sequence[Layout]],
    num_heads: int,
    *,
    attentions: Sequence[str] = (),
    layers: Sequence[str] = (),
    heads: Sequence[str] = (MEAN,),
) -> Choice:
    """Return the choice that a user's words mean.

    Args:
        layouts: of the model's attentions.
        num_heads: H.
        attentions: some of those in `layouts`; none = all.
        layers: numbers from 1 on; none = all.
        heads: numbers from 0 on, "mean", or "all", which is each of them.

    Raises:
        UserError: the model has no such attention, layer or head.
    """
    for name in attentions:
        if name not in layouts:
            raise UserError(
                f"--attentions={name}: the model has {', '.join(layouts)}{nearest(name, layouts)}"
            )
    depth = max(len(layouts[name]) for name in attentions or layouts)
    numbers: list[int | str] = []
    for head in heads:
        if head == ALL:
            numbers.extend(range(num_heads))
        else:
            numbers.append(head if head == MEAN else _number("heads", head, 0, num_heads - 1))
    return Choice(
        tuple(attentions),
        tuple(dict.fromkeys(_number("layers", layer, 1, depth) for layer in layers)),
        tuple(dict.fromkeys(numbers)),
    )


def _number(flag: str, text: str, least: int, most: int) -> int:
    if text.isdecimal() and least <= int(text) <= most:
        return int(text)
    words = f", {MEAN} or {ALL}" if flag == "heads" else ""
    raise UserError(f"--{flag}={text}: the model has {flag} {least} to {most}; give those{words}")


def draw(
    weights: Mapping[str, Sequence[Any]],
    layouts: Mapping[str, Sequence[Layout]],
    source: Sequence[Token],
    target: Sequence[Token],
    *,
    membership: np.ndarray | None = None,
    choice: Choice | None = None,
    caption: str = "",
) -> Iterator[Picture]:
    """Yield the pictures of one sentence pair, one after the other: each takes some memory.

    A query of the decoder is called by the token that it is to produce; a key of the decoder's
    self-attention by the token it stands for, the one produced just before.

    Args:
        weights: what `model.attention_weights` returns for this pair alone, without padding.
        layouts: of the weights.
        source: the S tokens of the source.
        target: the T tokens of the target.
        membership: (P, S) bool, which source tokens each phrase of a partition holds; for models
            that have one.
        choice: which to draw; None = the mean over heads of every attention.
        caption: stands at the end of each title.
    """
    choice = choice or Choice()
    read = [Token(START), *target[:-1]]
    sides = {
        "encoder": (source, source, "source", "source"),
        "decoder": (target, read, "target", "earlier target"),
        "cross": (target, source, "target", "source"),
        "encoder_phrases": (source, (), "source", "source"),
        "decoder_phrases": (target, (), "target", "source"),
        "pooling": ((), source, "source", "source"),
    }
    segments = () if membership is None else segment_labels(source, membership)
    for attention in choice.attentions or layouts:
        query_tokens, key_tokens, query_side, key_side = sides[attention]
        for place, layout in enumerate(layouts[attention]):
            if choice.layers and place + 1 not in choice.layers:
                continue
            drawn, heads = np.asarray(weights[attention][place])[0], choice.heads
            if layout.structure == "pooling":
                drawn, heads = drawn[None], (ONLY,)
            for head in heads:
                blocks, queries, keys = blocks_of_head(
                    drawn,
                    layout,
                    head if isinstance(head, int) else None,
                    query_tokens,
                    key_tokens,
                    segments,
                )
                words, suffix = _words_for(head)
                parts = (f"{ATTENTIONS[attention]}, layer {place + 1}{words}", caption)
                figure = heat_map(
                    blocks,
                    queries,
                    keys,
                    title="\n".join(filter(None, parts)),
                    query_side=query_side,
                    key_side=key_side,
                )
                yield Picture(f"{attention}_layer{place + 1}{suffix}", figure)


def _words_for(head: int | str) -> tuple[str, str]:
    """Return what a title says of the head, and a file name."""
    if head == ONLY:
        return "", ""
    return (", mean over heads", "_mean") if head == MEAN else (f", head {head}", f"_head{head}")


def blocks_of_head(
    weights: np.ndarray,
    layout: Layout,
    head: int | None,
    query_tokens: Sequence[Token],
    key_tokens: Sequence[Token],
    segments: Sequence[str] = (),
) -> tuple[list[list[np.ndarray]], list[Group], list[Group]]:
    """Return the blocks of weights between phrases that exist, and the phrases.

    Of a homogeneous attention the mean is that over the heads of each order, and a single head has
    the keys of its own order alone; its phrases reach into the padding at the left of the sentence.

    Args:
        weights: (H, ...), as the layer returns them for a sentence pair without padding.
        layout: theirs.
        head: counted from 0; None = the mean.
        query_tokens: T of them.
        key_tokens: S of them.
        segments: labels of the phrases of a partition, for a layout that knows them: the slots
            behind them hold nothing.

    Raises:
        UserError: there is no such phrase.
    """
    if layout.structure in ("segments", "pooling"):
        block = weights.mean(axis=0) if head is None else weights[head]
        phrases = [Group(0, list(segments))]
        if layout.structure == "pooling":
            return [[block[: len(segments)]]], phrases, [Group(1, phrase_labels(key_tokens, 1))]
        return [[block[:, : len(segments)]]], [Group(1, phrase_labels(query_tokens, 1))], phrases
    homogeneous = layout.structure == "homogeneous"
    if homogeneous and head is not None:
        layout = Layout("plain", key_orders=(layout.order_of_head(head),))
    if head is not None:
        weights = weights[head : head + 1]
    split = split_blocks(weights[None], layout)
    queries = [
        (m, order) for m, order in enumerate(layout.query_orders) if order <= len(query_tokens)
    ]
    keys = [
        (n, order)
        for n, order in enumerate(layout.key_orders)
        if homogeneous or order <= len(key_tokens)
    ]
    if not queries or not keys:
        raise UserError(
            f"a sentence of {min(len(query_tokens), len(key_tokens))} tokens has no phrase of the "
            f"orders {', '.join(map(str, layout.key_orders))} that the model attends to"
        )
    key_start = {order: 0 if homogeneous else order - 1 for _, order in keys}
    blocks = [
        [
            split[m][n][0].mean(axis=0)[query_order - 1 :, key_start[key_order] :]
            for n, key_order in keys
        ]
        for m, query_order in queries
    ]
    return (
        blocks,
        [Group(order, phrase_labels(query_tokens, order)[order - 1 :]) for _, order in queries],
        [Group(order, phrase_labels(key_tokens, order)[key_start[order] :]) for _, order in keys],
    )
