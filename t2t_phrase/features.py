"""Features: one integer for each token of one side, read in addition to the token ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Literal

Side = Literal["source", "target"]

# The name of each side's token ids, in records, in batches and in a model's `features`.
IDS: dict[Side, str] = {"source": "inputs", "target": "targets"}
OTHER: dict[Side, Side] = {"source": "target", "target": "source"}
# Where rows hold several pairs, the name of each side's pair numbers: for each token, the number of
# its pair within the row, from 1 on, or 0 at padding. The tokens of a pair are adjacent.
PAIRS: dict[Side, str] = {"source": "source_pairs", "target": "target_pairs"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Feature:
    """One integer for each token of one side, EOS included.

    A model's hparams list the features that it reads (`TrainingHParams.features`); a problem's
    class lists the features that its records may hold (`Problem.features`). All code in between
    passes features on by name.

    Attributes:
        name: key in records, in batches and in a model's `features`, and the name of the input of
            a SavedModel.
        side: whose tokens it describes. A source feature is needed wherever there is a source; a
            target feature only where the target is known, in training and in scoring.
        annotation: registered name of its text form, see `text.annotations.base.Annotation`.
        stream: suffix of the files that hold it next to a corpus, as in `train.en.trees`.
        pad: its value at padding.
        beside: the side whose text files these files accompany; None: the side that it describes.
        counterpart: name of the feature that takes its place where source and target are exchanged;
            empty: the feature itself, which then describes the other side.
    """

    name: str
    side: Side = "source"
    annotation: str = "word_numbers"
    stream: str
    pad: int = 0
    beside: Side | None = None
    counterpart: str = ""

    @property
    def side_stream(self) -> str:
        """Name of the feature's lines in a corpus and in generated data.

        "trees" for trees of the source, "target.trees" for trees of the target.
        """
        return self.stream if self.file_side == "source" else f"{self.file_side}.{self.stream}"

    @property
    def file_side(self) -> Side:
        """The side whose text files the feature's files accompany."""
        return self.beside or self.side

    def stored_name(self, *, reversed: bool) -> str:
        """Return its name in records whose source and target are exchanged if `reversed`."""
        return self.counterpart if reversed and self.counterpart else self.name

    @property
    def reversed(self) -> Feature:
        """The same feature with source and target exchanged."""
        beside = self.beside and OTHER[self.beside]
        return dataclasses.replace(self, side=OTHER[self.side], beside=beside)


# The stream of constituency trees in Penn brackets, which a parser can write.
TREES = "trees"
# The segments of a source that was cut by its constituency tree.
PHRASES = Feature(name="phrases", annotation="phrases", stream=TREES)
# Where the constituents of each level of a source's tree begin: for each token, the lowest level,
# at most MOST_LEVELS, at which a constituent begins with it; CONTINUES if none does.
MOST_LEVELS = 20
CONTINUES = MOST_LEVELS + 1
LEVELS = Feature(name="levels", annotation="tree_levels", stream=TREES)
# The labels of the segments of the top MOST_TAG_LEVELS levels: for each token, the class of the
# label of the segment that contains it at level 1, 2, ..., as the digits of a number in base
# TAG_CLASSES, with level 1 as the lowest digit. Class 0 is for tokens that no tree contains (EOS),
# RARE_TAG for labels outside the vocabulary of labels.
MOST_TAG_LEVELS = 4
TAG_CLASSES = 128
RARE_TAG = 1
TAGS = Feature(name="tags", annotation="tree_tags", stream=TREES)

# The stream of word alignments in Pharaoh format, which an aligner can write.
ALIGN = "align"
# For each token of the target, EOS included, the position of the source token that it is aligned
# with; and, from the same lines, the same for a model that translates in the other direction.
# Datagen stores positions within the source only; models read nothing at any other.
ALIGNMENT = Feature(
    name="alignment",
    side="target",
    annotation="alignment",
    stream=ALIGN,
    counterpart="alignment_rev",
)
ALIGNMENT_REV = Feature(
    name="alignment_rev",
    annotation="alignment_reversed",
    stream=ALIGN,
    beside="target",
    counterpart="alignment",
)


def of_side(features: Iterable[Feature], side: Side) -> tuple[Feature, ...]:
    """Return the features of one side, in the same order."""
    return tuple(feature for feature in features if feature.side == side)
