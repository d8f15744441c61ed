"""Sentences cut into phrases by their trees.

The phrases of a sentence are a list of strings, which spell the sentence up to blanks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from t2t_phrase.config import UserError
from t2t_phrase.text.trees.tree_phrases import phrase_ends
from t2t_phrase.text.trees.trees import TreeError, read_tree, word_ends, words


def cut_by_tree(sentence: str, line: str) -> list[str]:
    """Cut a sentence into segments by its tree, with Algorithm 1 (see `phrase_ends`).

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


def cut_lines(sentences: Sequence[str], trees: Sequence[str], name: str) -> list[list[str]]:
    """Cut every sentence into segments by its tree.

    Args:
        sentences: natural text.
        trees: one line with a tree for each sentence.
        name: name of the file with the trees, for messages.

    Raises:
        UserError: the number of trees differs, or a tree does not match its sentence.
    """
    if len(sentences) != len(trees):
        raise UserError(f"{name} has {len(trees)} trees for {len(sentences)} sentences")
    cuts = []
    for number, (sentence, line) in enumerate(zip(sentences, trees, strict=True), start=1):
        try:
            cuts.append(cut_by_tree(sentence, line))
        except TreeError as error:
            raise UserError(f"{name}:{number}: {error}") from error
    return cuts
