"""Sentences cut into segments by their trees."""

from __future__ import annotations

import itertools

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
    places = [i for i, char in enumerate(sentence) if not char.isspace()]
    cuts = [0, *(ends[end - 1] for end in phrase_ends(tree))]
    return [
        " ".join(sentence[places[start] : places[end - 1] + 1].split())
        for start, end in itertools.pairwise(cuts)
    ]
