"""Phrases of words carried over to subwords.

A sentence cut into its phrases is a list of strings, which spell the sentence up to blanks. It is
what trees are turned into, and what models are asked with.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

from t2t_phrase.config import UserError
from t2t_phrase.text.trees.tree_phrases import phrase_ends
from t2t_phrase.text.trees.trees import TreeError, read_tree, word_ends, words


def cut_by_tree(sentence: str, line: str) -> list[str]:
    """Cut a sentence into the phrases of its tree, by Algorithm 1 (see `phrase_ends`).

    Args:
        sentence: natural text.
        line: its tree in Penn brackets; an empty line for a sentence without words.

    Raises:
        TreeError: the line is no tree, or its words do not spell the sentence.
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
    """Cut every sentence by its tree.

    Args:
        sentences: natural text.
        trees: as many lines with trees.
        name: of the file that the trees are from.

    Raises:
        UserError: there are more or fewer trees, or one does not fit; it is named by its line.
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
    """Return the number, from 1, of the phrase that each subword is in.

    A subword is in the phrase in which its first visible character lies; a subword of nothing but
    a blank goes with what follows. Phrases in which no subword begins are not counted, so the
    numbers have no gaps.

    Args:
        text: the sentence.
        starts: where each subword begins, in bytes of UTF-8, ascending.
        phrases: the sentence cut into phrases.

    Raises:
        UserError: the phrases do not spell the sentence.
    """
    pieces = ["".join(phrase.split()) for phrase in phrases]
    if "".join(pieces) != "".join(text.split()):
        raise UserError(f"the phrases {' | '.join(phrases)!r} do not spell the sentence {text!r}")
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
    """Return the numbers of a sentence's subwords and of EOS, which is a phrase of its own."""
    return [*numbers, numbers[-1] + 1 if numbers else 1]
