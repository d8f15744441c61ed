"""The interface of constituency parsers, and trees with the words of the text.

The words of a parser need not spell the text: multi-word tokens are split ("zum" becomes "zu dem")
and characters are replaced. So the words of the tree are replaced by those of the sentence.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence

import nltk

from t2t_phrase.io.line_counts import counted
from t2t_phrase.text.trees.trees import TreeError, escaped


class Parser(abc.ABC):
    """Parses sentences, none of which is blank."""

    @abc.abstractmethod
    def parse(self, sentences: Sequence[str]) -> Sequence[str | TreeError]:
        """Return for each sentence a tree in Penn brackets, or why it could not be parsed.

        Raises:
            UserError: the parser cannot be reached.
        """


def respelt(tree: nltk.Tree, words: Sequence[str]) -> str:
    """Return the tree in Penn brackets with other words.

    Args:
        tree: a tree with the same number of words.
        words: the new words; an empty one removes the word and constituents without other words.

    Raises:
        TreeError: the numbers of words differ.
    """
    places = tree.treepositions("leaves")
    if len(places) != len(words):
        raise TreeError(f"the tree has {counted(len(places), 'word')}, the sentence {len(words)}")
    tree = tree.copy(deep=True)
    for place, word in reversed(list(zip(places, words, strict=True))):
        if word:
            tree[place] = escaped(word)
            continue
        while place and (len(tree[place[:-1]]) == 1):
            place = place[:-1]
        if place:
            del tree[place]
    return " ".join(str(tree).split())


def joined(trees: Sequence[str]) -> str:
    """Return one tree for a sentence that a parser split into several."""
    return trees[0] if len(trees) == 1 else f"(ROOT {' '.join(trees)})"
