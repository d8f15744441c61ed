"""The top levels of a constituency tree: the beginnings and the labels of their segments."""

from __future__ import annotations

from typing import NamedTuple

import nltk

from t2t_phrase.features import CONTINUES, MOST_LEVELS
from t2t_phrase.text.trees.constituents import Constituent, constituents

# The label of a word that has none in the tree.
UNNAMED = "X"


class LevelWord(NamedTuple):
    """A word and its place in the tree.

    Attributes:
        level: the lowest level at which a segment begins with the word, 1 for the first word, at
            most CONTINUES.
        labels: labels of its segments at level 1, 2, ..., down to the segment that holds the word
            alone, at most MOST_LEVELS.
    """

    level: int
    labels: tuple[str, ...]


def tree_levels(tree: nltk.Tree) -> list[LevelWord]:
    """Return the place of every word in the levels of a tree.

    Hao et al. (2019), Section 3.2: level k cuts the tree at depth k, so level 1 consists of the
    children of the root. A word whose branch ends above a level is a segment of that level, too.

    What the paper leaves open:

    - A node with a single child and that child are one node, named after the upper one. So the
      root is the highest node with several children, and every level cuts every constituent of the
      level above.
    - Constituents without words do not count.
    - A sentence of one word is one segment, named after the second node of the chain above the
      word, since the first is the root; or after the root, if there is no other node.

    Args:
        tree: a tree with at least one word.
    """
    root = constituents(tree)
    if root.end == 1:
        return [LevelWord(1, (_name_of_only_word(root),))]
    words = []
    # A node, its depth, the lowest level at which a segment begins with its first word, and its
    # labels. Not recursive, because degenerate trees are deep.
    stack: list[tuple[Constituent, int, int, tuple[str, ...]]] = [(root, 0, 1, ())]
    while stack:
        node, depth, level, labels = stack.pop()
        if len(labels) < min(depth, MOST_LEVELS):
            labels = (*labels, node.label or UNNAMED)
        if not node.children:
            words.append(LevelWord(min(level, CONTINUES), labels))
        below = depth + (len(node.children) > 1)
        first = node.children[:1]
        stack.extend((child, below, below, labels) for child in reversed(node.children[1:]))
        stack.extend((child, below, level, labels) for child in first)
    return words


def label_at(word: LevelWord, level: int) -> str:
    """Return the label of the segment of a level that contains the word."""
    return word.labels[min(level, len(word.labels)) - 1]


def _name_of_only_word(root: Constituent) -> str:
    node = root
    if node.children and node.children[0].label:
        node = node.children[0]
    return node.label or UNNAMED
