"""Conversion of links between tokens of a finer tokenisation to links between words."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence

from t2t_phrase.text.alignments.pharaoh import Link


def links_of_words(
    links: Iterable[Link],
    source: tuple[Sequence[str], Sequence[str]],
    target: tuple[Sequence[str], Sequence[str]],
) -> set[Link]:
    """Return the links between words, given those between the tokens that spell them.

    Links of punctuation count only for words that consist of punctuation: "seen." has the links of
    "seen", but not those of the full stop.

    Args:
        links: links between tokens.
        source: the tokens and the words of the source, which spell the same text.
        target: the tokens and the words of the target.
    """
    (source_tokens, source_words), (target_tokens, target_words) = source, target
    source_numbers = _word_numbers(source_tokens, source_words)
    target_numbers = _word_numbers(target_tokens, target_words)
    return {
        (source_numbers[i], target_numbers[j])
        for i, j in links
        if _counts(source_tokens[i], source_words[source_numbers[i]])
        and _counts(target_tokens[j], target_words[target_numbers[j]])
    }


def _word_numbers(tokens: Sequence[str], words: Sequence[str]) -> list[int]:
    """Return the number of the word in which each token begins."""
    ends = list(itertools.accumulate(map(len, words)))
    starts = itertools.accumulate(map(len, tokens), initial=0)
    return [bisect.bisect_right(ends, start) for start, _ in zip(starts, tokens, strict=False)]


def _counts(token: str, word: str) -> bool:
    return any(map(str.isalnum, token)) or not any(map(str.isalnum, word))
