"""The labels of the constituents at the top levels of a sentence's tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from t2t_phrase import registry
from t2t_phrase.features import MOST_TAG_LEVELS, RARE_TAG, TAG_CLASSES
from t2t_phrase.text.annotations.base import Sentence
from t2t_phrase.text.annotations.labels import LabelAnnotation
from t2t_phrase.text.visible import spans_of_tokens


@registry.annotation_types.register
class TreeTags(LabelAnnotation):
    """For each word, the labels of the segments that contain it at levels 1 to `MOST_TAG_LEVELS`.

    The text form has two fields for each word, separated by tabs: the word, and its labels,
    separated by blanks: `Bush<TAB>NP NP NP NP<TAB>held<TAB>VP VBD VBD VBD`. The integer of a token
    holds the classes, at all levels, of the word of its first visible character, see
    `features.TAGS`. EOS has 0. In a file next to the corpus, each line is a constituency tree in
    Penn brackets, see `text.trees.tree_levels`.

    Tags supervise the training of the encoder (Hao et al., 2019, Eq. (9)); translators and
    SavedModels do not read them.
    """

    most_labels: ClassVar[int] = TAG_CLASSES - RARE_TAG - 1

    @property
    def first_class(self) -> int:
        """The integer of the first label."""
        return RARE_TAG + 1

    def read(self, sentence: str, line: str, other: str | None = None) -> str:
        """Return the words of the tree with their labels.

        Raises:
            UserError: the line is not a tree, or its words do not spell the sentence.
        """
        del other
        # NLTK takes long to import, and models without trees do not need it.
        from t2t_phrase.text.trees.cut_by_tree import with_tags

        return with_tags(sentence, line)

    def labels(self, text: str) -> Iterable[str]:
        """Return the labels in a text form."""
        return " ".join(text.split("\t")[1::2]).split()

    def encode(self, own: Sentence, text: str, other: Sentence | None = None) -> list[int]:
        """Return the classes of each token's labels as one integer."""
        del other
        words, labels = text.split("\t")[::2], text.split("\t")[1::2]
        codes = [self._code(of_word.split()) for of_word in labels]
        return [codes[i] for i in spans_of_tokens(own.text, own.starts, words)]

    def end(self, numbers: Sequence[int], other: Sentence | None = None) -> int:
        """Return 0: no tree contains EOS."""
        del numbers, other
        return 0

    def _code(self, labels: Sequence[str]) -> int:
        classes = (self.classes.get(label, RARE_TAG) for label in labels[:MOST_TAG_LEVELS])
        return sum(number * TAG_CLASSES**level for level, number in enumerate(classes))
