"""Segments of words, projected onto subwords.

A sentence that is cut into segments is a list of strings that spell it, whitespace aside. Trees are
converted to this form, and it is the input of models of parsed segments.
"""

from __future__ import annotations

import bisect
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


def subword_phrases(text: str, starts: Sequence[int], phrases: Sequence[str]) -> list[int]:
    """Return the number of the segment that each subword belongs to, counting from 1.

    A subword belongs to the segment that contains its first visible character; a subword that
    consists of whitespace belongs to the segment that follows. Segments in which no subword begins
    are not counted, so that the numbers have no gaps.

    Args:
        text: the sentence.
        starts: start of each subword in bytes of UTF-8, ascending.
        phrases: the segments of the sentence.

    Raises:
        UserError: the segments do not spell the sentence.
    """
    pieces = ["".join(phrase.split()) for phrase in phrases]
    if "".join(pieces) != "".join(text.split()):
        raise UserError(f"the segments {' | '.join(phrases)!r} do not spell the sentence {text!r}")
    ends = list(itertools.accumulate(map(len, pieces)))
    before = {}
    offset = visible = 0
    for char in text:
        before[offset] = visible
        offset += len(char.encode())
        visible += not char.isspace()
    numbers: list[int] = []
    last = -1
    for start in starts:
        phrase = bisect.bisect_right(ends, min(before.get(start, visible), visible - 1))
        numbers.append(numbers[-1] + (phrase != last) if numbers else 1)
        last = phrase
    return numbers


def with_eos(numbers: Sequence[int]) -> list[int]:
    """Return the numbers of the subwords and of EOS, which is a segment of its own."""
    return [*numbers, numbers[-1] + 1 if numbers else 1]
