"""One translation of one sentence, with all that its model shows of it.

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
    """The weights of a head, the mean over the heads of a layer, or what else a model shows.

    Attributes:
        head: its number from 0; None: the mean, or there are no heads.
        blocks: in row m, column n the weights from rows m to columns n.
        rows: what the rows of the blocks are.
        columns: what their columns are.
    """

    head: int | None
    blocks: Sequence[Sequence[np.ndarray]]
    rows: Sequence[Group]
    columns: Sequence[Group]


@dataclasses.dataclass(frozen=True)
class Layer:
    """The matrices of one layer.

    Attributes:
        matrices: the mean over heads, and each head; one alone where there are no heads.
        windows: of the rows, where they read no more of the columns; those of one sentence.
        pruned: (R, C) bool, what a search leaves out; None: nothing is.
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
        rows: the text whose tokens the rows are, see `layout.Text`; "": of none.
        columns: likewise.
        layers: from the bottom; one alone for an exhibit.
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
        label: what the model predicts that it is called; "": nothing.
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
    """A translation of a sentence, with all that its model shows of it.

    Attributes:
        source: the sentence.
        target: its translation, which all weights belong to.
        is_own: whether the translation is the model's own.
        source_tokens: EOS included.
        target_tokens: likewise.
        log_probabilities: (T,) of each target token, in nats; of the jump to its position, where
            `predicts_jumps`.
        predicts_jumps: see `Capabilities`.
        candidates: the hypotheses of the search, best first; (): the translation was given.
        aligned: the source position of each target token: that which the model was given or which
            a search decided on, or else the one with the greatest attention, as
            `write_alignments` has it. (): the model shows none. A number beyond the source: none.
        partitions: the segments of the source, by the name of the partition.
        maps: every attention, and what else the model shows.
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
