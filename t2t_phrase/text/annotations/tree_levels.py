"""The beginnings of the constituents at each level of a sentence's tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.features import CONTINUES
from t2t_phrase.text.annotations.base import Annotation, Sentence
from t2t_phrase.text.visible import first_visible

if TYPE_CHECKING:
    import tensorflow as tf


@registry.annotation_types.register
class TreeLevels(Annotation):
    """The sentence with k tabs between constituents that are cut at level k.

    `Bush<TAB>held<TAB><TAB>a talk<TAB><TAB>with Sharon` is cut by level 1 into "Bush" and "held a
    talk with Sharon", and by level 2 into four segments. The integer of a token is the lowest level
    at which a segment begins with its first visible character, or inside the preceding token; see
    `ops.partition.level_partition`. EOS is a segment of its own at every level. In a file next to
    the corpus, each line is a constituency tree in Penn brackets, see `text.trees.tree_levels`.
    """

    def read(self, sentence: str, line: str, other: str | None = None) -> str:
        """Return the sentence with the tabs of its tree.

        Raises:
            UserError: the line is not a tree, or its words do not spell the sentence.
        """
        del other
        # NLTK takes long to import, and models without trees do not need it.
        from t2t_phrase.text.trees.cut_by_tree import with_levels

        return with_levels(sentence, line)

    def encode(self, own: Sentence, text: str, other: Sentence | None = None) -> list[int]:
        """Return the lowest level at which a segment begins with each token.

        Raises:
            UserError: the text does not spell the sentence.
        """
        del other
        if "".join(text.split()) != "".join(own.text.split()):
            raise UserError(f"the constituents {text!r} do not spell the sentence {own.text!r}")
        levels = _levels_of_characters(text)
        numbers, done = [], 0
        for first in first_visible(own.text, own.starts):
            passed = levels[done : first + 1]
            numbers.append(min(passed, default=CONTINUES))
            done = max(done, first + 1)
        return numbers

    def end(self, numbers: Sequence[int], other: Sentence | None = None) -> int:
        """Return 1: EOS is a segment of level 1."""
        del numbers, other
        return 1

    def encode_in_graph(
        self, texts: tf.Tensor, starts: tf.RaggedTensor, annotations: tf.Tensor
    ) -> tf.RaggedTensor:
        """Do the same as `encode` for a batch inside a TensorFlow graph.

        Raises:
            InvalidArgumentError: constituents do not spell their sentence; raised when the graph
                runs.
        """
        from t2t_phrase.text.in_graph.tree_levels import tree_levels as in_graph

        return in_graph(texts, starts, annotations, continues=CONTINUES)

    def end_in_graph(self, numbers: tf.RaggedTensor) -> tf.Tensor:
        """Return (B,) int32: 1 for each sentence."""
        import tensorflow as tf

        return tf.ones((numbers.nrows(),), tf.int32)


def _levels_of_characters(text: str) -> list[int]:
    """Return the lowest level at which a segment begins with each visible character."""
    levels: list[int] = []
    for run in re.finditer(r"(\s*)(\S+)", text):
        level = (run[1].count("\t") or CONTINUES) if levels else 1
        levels += [min(level, CONTINUES)] + [CONTINUES] * (len(run[2]) - 1)
    return levels
