"""Sentences cut into segments by their trees."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from t2t_phrase.features import MOST_LEVELS
from t2t_phrase.text.trees.tree_levels import tree_levels
from t2t_phrase.text.trees.tree_phrases import phrase_ends
from t2t_phrase.text.trees.trees import read_tree, word_ends, words


def cut_by_tree(sentence: str, line: str) -> list[str]:
    """Cut a sentence into segments by its tree, with Algorithm 1 (see `phrase_ends`).

    Together, the segments spell the sentence, apart from whitespace.

    Args:
        sentence: natural text.
        line: its tree in Penn Treebank brackets; empty for a sentence without words.

    Raises:
        TreeError: the line is not a tree, or its words do not spell the sentence.
    """
    if not line.strip() and not sentence.strip():
        return []
    tree = read_tree(line)
    ends = word_ends(list(words(tree)), sentence)
    return _pieces(sentence, [ends[end - 1] for end in phrase_ends(tree)])


def with_levels(sentence: str, line: str) -> str:
    """Return a sentence with tabs between constituents, as many as the level at which they are cut.

    Args:
        sentence: natural text.
        line: its tree, as for `cut_by_tree`.

    Raises:
        TreeError: the line is not a tree, or its words do not spell the sentence.
    """
    if not line.strip() and not sentence.strip():
        return ""
    tree = read_tree(line)
    pieces = _pieces(sentence, word_ends(list(words(tree)), sentence))
    levels = [word.level for word in tree_levels(tree)]
    cuts = ["\t" * level if level <= MOST_LEVELS else " " for level in levels[1:]]
    return "".join(itertools.chain(*zip(pieces, [*cuts, ""], strict=True)))


def _pieces(sentence: str, ends: Sequence[int]) -> list[str]:
    """Return the sentence cut after these numbers of visible characters."""
    places = [i for i, char in enumerate(sentence) if not char.isspace()]
    return [
        " ".join(sentence[places[start] : places[end - 1] + 1].split())
        for start, end in itertools.pairwise([0, *ends])
    ]
