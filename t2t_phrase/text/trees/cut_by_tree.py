"""Sentences cut into segments by their trees."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import nltk

from t2t_phrase.features import MOST_LEVELS, MOST_TAG_LEVELS
from t2t_phrase.text.trees.tree_levels import LevelWord, label_at, tree_levels
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
    tree, ends = _fitted(sentence, line)
    return _pieces(sentence, [ends[end - 1] for end in phrase_ends(tree)])


def with_levels(sentence: str, line: str) -> str:
    """Return a sentence with k tabs between constituents that are cut at level k.

    Args:
        sentence: natural text.
        line: its tree, as for `cut_by_tree`.

    Raises:
        TreeError: the line is not a tree, or its words do not spell the sentence.
    """
    if not line.strip() and not sentence.strip():
        return ""
    _, ends = _fitted(sentence, line)
    pieces = _pieces(sentence, ends)
    levels = [word.level for word in _levels(sentence, line)]
    cuts = ["\t" * level if level <= MOST_LEVELS else " " for level in levels[1:]]
    return "".join(itertools.chain(*zip(pieces, [*cuts, ""], strict=True)))


def with_tags(sentence: str, line: str) -> str:
    """Return each word of a tree and the labels of its segments at the top levels.

    Args:
        sentence: natural text.
        line: its tree, as for `cut_by_tree`.

    Returns:
        Two fields for each word, all separated by tabs: the word, and its labels from level 1 to
        `MOST_TAG_LEVELS`, separated by blanks.

    Raises:
        TreeError: the line is not a tree, or its words do not spell the sentence.
    """
    if not line.strip() and not sentence.strip():
        return ""
    _, ends = _fitted(sentence, line)
    fields = []
    for piece, word in zip(_pieces(sentence, ends), _levels(sentence, line), strict=True):
        fields += [piece, " ".join(label_at(word, i + 1) for i in range(MOST_TAG_LEVELS))]
    return "\t".join(fields)


# Several features are made from one tree, one after another.
@functools.lru_cache(maxsize=1)
def _fitted(sentence: str, line: str) -> tuple[nltk.Tree, tuple[int, ...]]:
    """Return the tree, and the number of visible characters up to the end of each word."""
    tree = read_tree(line)
    return tree, tuple(word_ends(list(words(tree)), sentence))


@functools.lru_cache(maxsize=1)
def _levels(sentence: str, line: str) -> tuple[LevelWord, ...]:
    return tuple(tree_levels(_fitted(sentence, line)[0]))


def _pieces(sentence: str, ends: Sequence[int]) -> list[str]:
    """Return the sentence cut after these numbers of visible characters."""
    places = [i for i, char in enumerate(sentence) if not char.isspace()]
    return [
        " ".join(sentence[places[start] : places[end - 1] + 1].split())
        for start, end in itertools.pairwise([0, *ends])
    ]
