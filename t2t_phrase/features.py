"""Features: one integer for each token of one side, read in addition to the token ids."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Literal

Side = Literal["source", "target"]

# The name of each side's token ids, in records, in batches and in a model's `features`.
IDS: dict[Side, str] = {"source": "inputs", "target": "targets"}
OTHER: dict[Side, Side] = {"source": "target", "target": "source"}
# Where rows hold several pairs, what says for each token of a side which pair of its row it belongs
# to: a number from 1 on, 0 at padding. The tokens of a pair are adjacent.
PAIRS: dict[Side, str] = {"source": "source_pairs", "target": "target_pairs"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Feature:
    """One integer for each token of one side, EOS included.

    The hparams of a model list the features that it reads (`TrainingHParams.features`), the class
    of a problem those that its records may hold (`Problem.features`). Everything in between passes
    them on by name.

    Attributes:
        name: key in records, in batches and in a model's `features`, and the name of the input of
            a SavedModel.
        side: whose tokens it describes. A source feature is needed wherever there is a source; a
            target feature only where the target is known, in training and in scoring.
        annotation: registered name of how it is written as text, see
            `text.annotations.base.Annotation`.
        stream: what ends the names of the files that hold it next to a corpus: `train.en.trees`.
        pad: its value at padding.
        beside: the side beside whose files those are; None: the side that it describes.
        counterpart: name of the feature that takes its place where source and target are exchanged;
            empty: it takes its own place there, and describes the other side.
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
        """Name of the lines that hold it in a corpus and in generated data.

        "trees" for trees of the source, "target.trees" for trees of the target.
        """
        return self.stream if self.file_side == "source" else f"{self.file_side}.{self.stream}"

    @property
    def file_side(self) -> Side:
        """The side beside whose text files its files are."""
        return self.beside or self.side

    def stored_name(self, *, reversed: bool) -> str:
        """Return its name in records whose source and target are, or are not, exchanged."""
        return self.counterpart if reversed and self.counterpart else self.name

    @property
    def reversed(self) -> Feature:
        """The same feature when source and target are exchanged."""
        beside = self.beside and OTHER[self.beside]
        return dataclasses.replace(self, side=OTHER[self.side], beside=beside)


# The stream of constituency trees in Penn brackets, which a parser can write.
TREES = "trees"
# The segments of a source that was cut by its constituency tree.
PHRASES = Feature(name="phrases", annotation="phrases", stream=TREES)
# Where the constituents of each level of a source's tree begin: the lowest level at which one
# begins with a token, at most MOST_LEVELS, or CONTINUES.
MOST_LEVELS = 20
CONTINUES = MOST_LEVELS + 1
LEVELS = Feature(name="levels", annotation="tree_levels", stream=TREES)
# What the segments of the top MOST_TAG_LEVELS levels are called: for each token, the class of the
# label of the segment that contains it at level 1, 2, ..., as the digits of a number to the base
# TAG_CLASSES, level 1 being the lowest one. Class 0 is for tokens that no tree contains (EOS),
# RARE_TAG for labels outside the vocabulary of labels.
MOST_TAG_LEVELS = 4
TAG_CLASSES = 128
RARE_TAG = 1
TAGS = Feature(name="tags", annotation="tree_tags", stream=TREES)

# The stream of word alignments in Pharaoh format, which an aligner can write.
ALIGN = "align"
# For each token of the target, EOS included, the position of the source token that it is aligned
# with; and, from the same lines, the same for a model that translates in the other direction.
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
