"""One translation of one sentence, with all that its model shows about it.

Shapes: T target tokens, R rows, C columns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.insights.heat_map import Group
from t2t_phrase.insights.labels import Token
from t2t_phrase.layers.luong.window import Windows


@dataclasses.dataclass(frozen=True)
class Matrix:
    """The weights of a head, the mean over the heads of a layer, or an exhibit.

    Attributes:
        head: its number from 0; None: the mean, or there are no heads.
        blocks: in row m, column n the weights from rows m to columns n.
        rows: the group of each row of blocks.
        columns: the group of each column of blocks.
    """

    head: int | None
    blocks: Sequence[Sequence[np.ndarray]]
    rows: Sequence[Group]
    columns: Sequence[Group]


@dataclasses.dataclass(frozen=True)
class Layer:
    """The matrices of one layer.

    Attributes:
        matrices: the mean over heads, and each head; a single matrix where there are no heads.
        windows: those that limit the columns each row reads, of one sentence; None: no limits.
        pruned: (R, C) bool, True where a search prunes; None: it prunes nothing.
        chosen: (R,) int, the column that was chosen in each row; None: there is no choice.
    """

    matrices: Sequence[Matrix]
    windows: Windows | None = None
    pruned: np.ndarray | None = None
    chosen: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class Map:
    """An attention, or an exhibit.

    Attributes:
        name: in `attention_maps` or `exhibits`.
        title: its heading.
        rows: the text whose tokens the rows are, see `layout.Text`; "": none.
        columns: likewise.
        layers: from the bottom; a single one for an exhibit.
    """

    name: str
    title: str
    rows: str
    columns: str
    layers: Sequence[Layer]


class Segment(NamedTuple):
    """A segment of the source.

    Attributes:
        first: its first token.
        last: its last token.
        label: the label that the model predicts; "": none.
    """

    first: int
    last: int
    label: str = ""


class Candidate(NamedTuple):
    """A hypothesis of the search, and its score."""

    text: str
    score: float


@dataclasses.dataclass(frozen=True)
class Explanation:
    """A translation of a sentence, with all that its model shows about it.

    Attributes:
        source: the sentence.
        target: its translation, which all weights belong to.
        is_own: whether the translation is the model's own.
        source_tokens: EOS included.
        target_tokens: likewise.
        log_probabilities: (T,) of each target token, in nats; where `predicts_jumps`, of the jump
            to its position.
        predicts_jumps: see `Capabilities`.
        candidates: the hypotheses of the search, best first; (): the translation was given.
        aligned: the source position of each target token: the one given to the model or chosen by
            a search, or else the one with the greatest attention, as in `write_alignments`. ():
            the model shows none. A number beyond the source: the token has none.
        partitions: the segments of the source, by the name of the partition.
        maps: every attention and every exhibit.
        notes: what else is to be known, such as that the source was cut.
    """

    source: str
    target: str
    is_own: bool
    source_tokens: Sequence[Token]
    target_tokens: Sequence[Token]
    log_probabilities: np.ndarray
    predicts_jumps: bool
    candidates: Sequence[Candidate]
    aligned: Sequence[int]
    partitions: dict[str, Sequence[Segment]]
    maps: Sequence[Map]
    notes: Sequence[str] = ()
