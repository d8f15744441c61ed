"""Heat maps of the attentions of one sentence pair: which to draw, and their rows and columns.

Shapes: H heads, R rows, C columns, S source tokens, P segments of a partition.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from t2t_phrase.config import UserError, clipped, nearest
from t2t_phrase.insights.heat_map import Group, heat_map
from t2t_phrase.insights.labels import (
    START,
    Token,
    kind_of,
    ngram_labels,
    segment_labels,
    segment_spans,
)
from t2t_phrase.insights.windows import of_sentence
from t2t_phrase.insights.words import between_words, word_labels
from t2t_phrase.layers.attention.blocks import split_blocks
from t2t_phrase.layers.attention.layout import TOKENS, AttentionMap, Layout, Units
from t2t_phrase.layers.luong.window import Windows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEAN, ALL = "mean", "all"


class Picture(NamedTuple):
    """A figure, and the name of its file without extension."""

    name: str
    figure: Figure


@dataclasses.dataclass(frozen=True)
class Choice:
    """The attentions to draw.

    Attributes:
        attentions: names in `model.attention_maps`; () = all.
        layers: numbers from 1 on; () = all.
        heads: numbers from 0 on, or MEAN, the mean over all heads.
        words: whether rows and columns of tokens are merged into words.
    """

    attentions: tuple[str, ...] = ()
    layers: tuple[int, ...] = ()
    heads: tuple[int | str, ...] = (MEAN,)
    words: bool = False


def choose(
    maps: Mapping[str, AttentionMap],
    *,
    attentions: Sequence[str] = (),
    layers: Sequence[str] = (),
    heads: Sequence[str] = (MEAN,),
    words: bool = False,
) -> Choice:
    """Return the choice that a user has made.

    Args:
        maps: from `model.attention_maps`.
        attentions: some of the names in `maps`; none = all.
        layers: numbers from 1 on; none = all.
        heads: numbers from 0 on, "mean", or "all" for every head.
        words: whether rows and columns of tokens are merged into words.

    Raises:
        UserError: the model has no attention, or no such attention, layer or head.
    """
    if not maps:
        raise UserError("--heat_maps: the model has no attention")
    for name in attentions:
        if name not in maps:
            known = ", ".join(maps)
            raise UserError(
                f"--attentions={clipped(name)}: the model has {known}{nearest(name, maps)}"
            )
    chosen = [maps[name].layouts for name in attentions or maps]
    depth = max(map(len, chosen))
    num_heads = max(layout.num_heads for layouts in chosen for layout in layouts)
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
        words,
    )


def _number(flag: str, text: str, least: int, most: int) -> int:
    if re.fullmatch("[0-9]{1,9}", text) and least <= int(text) <= most:
        return int(text)
    words = f", {MEAN} or {ALL}" if flag == "heads" else ""
    raise UserError(
        f"--{flag}={clipped(text)}: the model has {flag} {least} to {most}; choose from "
        f"these{words}"
    )


def draw(
    weights: Mapping[str, Sequence[Any]],
    maps: Mapping[str, AttentionMap],
    source: Sequence[Token],
    target: Sequence[Token],
    *,
    partitions: Mapping[str, np.ndarray] | None = None,
    windows: Mapping[str, Sequence[Windows]] | None = None,
    choice: Choice | None = None,
    caption: str = "",
) -> Iterator[Picture]:
    """Yield the pictures of one sentence pair one by one, since each takes some memory.

    A query of the decoder is labelled by the token that it predicts, a key of the decoder's
    self-attention by the token read at its position, which is the previous one.

    Args:
        weights: from `model.attention_weights` for this pair alone, without padding.
        maps: from `model.attention_maps`.
        source: the S tokens of the source.
        target: the tokens of the target.
        partitions: by name, (P, S) bool: the source tokens in each segment; None = there are none.
        windows: from `model.attention_windows`; None = there are none. They are not drawn between
            words.
        choice: what to draw; None = the mean over heads of every attention.
        caption: printed below each title.
    """
    choice = choice or Choice()
    texts = {"source": source, "target": target, "earlier target": [Token(START), *target[:-1]]}
    for attention in choice.attentions or maps:
        attention_map = maps[attention]
        for place, layout in enumerate(attention_map.layouts):
            if choice.layers and place + 1 not in choice.layers:
                continue
            own = windows[attention][place] if windows and attention in windows else None
            if choice.words:
                # Windows are of tokens; no window of words has the same borders.
                own = None
            for head in choice.heads if layout.num_heads else (MEAN,):
                if isinstance(head, int) and head >= layout.num_heads:
                    continue
                blocks, queries, keys = blocks_of_head(
                    np.asarray(weights[attention][place])[0],
                    layout,
                    head if isinstance(head, int) else None,
                    texts[attention_map.rows],
                    texts[attention_map.columns],
                    partitions or {},
                )
                if choice.words:
                    blocks, queries, keys = merge_words(
                        blocks,
                        queries,
                        keys,
                        texts[attention_map.rows],
                        texts[attention_map.columns],
                    )
                words, suffix = _words_for(head, layout)
                parts = (f"{attention_map.title}, layer {place + 1}{words}", caption)
                figure = heat_map(
                    blocks,
                    queries,
                    keys,
                    title="\n".join(filter(None, parts)),
                    query_side=attention_map.rows,
                    key_side=attention_map.columns,
                    windows=None if own is None else of_sentence(own, 0),
                )
                yield Picture(f"{attention}_layer{place + 1}{suffix}", figure)


def _words_for(head: int | str, layout: Layout) -> tuple[str, str]:
    """Return the parts of the title and of the file name that name the head."""
    if not layout.num_heads:
        return "", ""
    return (", mean over heads", "_mean") if head == MEAN else (f", head {head}", f"_head{head}")


def blocks_of_head(
    weights: np.ndarray,
    layout: Layout,
    head: int | None,
    row_tokens: Sequence[Token],
    column_tokens: Sequence[Token],
    partitions: Mapping[str, np.ndarray],
) -> tuple[list[list[np.ndarray]], list[Group], list[Group]]:
    """Return the blocks of weights between units that exist, and the labels of these units.

    Where heads have different columns, the mean has one block for each kind, averaged over the
    heads of that kind, and a single head has only the block of its kind.

    Args:
        weights: (H, R, C), or (R, C), as the layer returns them for a pair without padding.
        layout: of these weights.
        head: number from 0 on; None = the mean over heads.
        row_tokens: the tokens that make up the rows.
        column_tokens: the tokens that make up the columns.
        partitions: by name, (P, S) bool: the tokens in each segment.

    Raises:
        UserError: the sentence is too short for any of the n-grams.
    """
    if not layout.num_heads:
        weights = weights[None]
    elif head is not None:
        weights = weights[head : head + 1]
        if layout.columns_by_head:
            own = (layout.columns_by_head[head],)
            layout = dataclasses.replace(layout, columns=own, columns_by_head=())
    split = split_blocks(weights[None], layout)
    rows, columns = (
        _existing(units, tokens, partitions, reaches_back=layout.reaches_back)
        for units, tokens in ((layout.rows, row_tokens), (layout.all_columns, column_tokens))
    )
    if not rows or not columns:
        kinds = dict.fromkeys(kind_of(units) for units in (*layout.rows, *layout.all_columns))
        raise UserError(
            f"a sentence of {min(len(row_tokens), len(column_tokens))} tokens is too short for "
            f"this attention, which is between {', '.join(kinds)}"
        )
    blocks = [
        [
            np.asarray(split[row.place][column.place])[0].mean(axis=0)[row.slots, column.slots]
            for column in columns
        ]
        for row in rows
    ]
    return blocks, [row.group for row in rows], [column.group for column in columns]


def merge_words(
    blocks: Sequence[Sequence[np.ndarray]],
    queries: Sequence[Group],
    keys: Sequence[Group],
    row_tokens: Sequence[Token],
    column_tokens: Sequence[Token],
) -> tuple[list[list[np.ndarray]], list[Group], list[Group]]:
    """Return blocks whose tokens are merged into words, see `words.between_words`.

    N-grams and segments stay as they are.

    Args:
        blocks: from `blocks_of_head`.
        queries: the rows of the blocks.
        keys: the columns of the blocks.
        row_tokens: the tokens that make up the rows.
        column_tokens: the tokens that make up the columns.
    """
    tokens = kind_of(TOKENS)
    merged = [
        [
            between_words(
                block,
                row_tokens if query.kind == tokens else None,
                column_tokens if key.kind == tokens else None,
            )
            for block, key in zip(row, keys, strict=True)
        ]
        for row, query in zip(blocks, queries, strict=True)
    ]
    return merged, _as_words(queries, row_tokens), _as_words(keys, column_tokens)


def _as_words(groups: Sequence[Group], tokens: Sequence[Token]) -> list[Group]:
    return [
        Group("words", word_labels(tokens)) if group.kind == kind_of(TOKENS) else group
        for group in groups
    ]


class _Existing(NamedTuple):
    """The units of one kind that a sentence has.

    Attributes:
        place: index of the kind.
        slots: places of the units among the rows or columns of that kind.
        group: their labels.
    """

    place: int
    slots: slice
    group: Group


def _existing(
    kinds: Sequence[Units],
    tokens: Sequence[Token],
    partitions: Mapping[str, np.ndarray],
    *,
    reaches_back: bool,
) -> list[_Existing]:
    found = []
    for place, units in enumerate(kinds):
        if units.partition:
            labels = segment_labels(tokens, partitions[units.partition])
            slots = slice(len(labels))
            spans = segment_spans(partitions[units.partition])
        else:
            slots = slice(0 if reaches_back else units.order - 1, len(tokens))
            labels = ngram_labels(tokens, units.order)[slots]
            ends = range(len(tokens))[slots]
            spans = [(max(0, end - units.order + 1), end) for end in ends]
        if labels:
            found.append(_Existing(place, slots, Group(kind_of(units), labels, spans)))
    return found
