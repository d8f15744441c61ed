"""Simulated customer dictionaries, made from reference translations.

Alkhouli et al. (2018), Section 7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Literal

from t2t_phrase.text.alignments.pharaoh import Link
from t2t_phrase.text.dictionaries.matching import is_edge
from t2t_phrase.text.dictionaries.reader import Entry

# Maximum number of entries of a sentence.
MOST = 4


def simulated_entries(
    source: str,
    reference: str,
    links: Iterable[Link],
    translation: str,
    *,
    stop_words: Collection[str] = (),
    stop_side: Literal["source", "target"] = "source",
    most: int = MOST,
) -> list[Entry]:
    """Return entries of one word each, in the order of the source.

    A source word and a reference word form an entry if they are linked only with each other, the
    source word occurs once in the source, the reference word does not occur in the translation, and
    the one on `stop_side` is not a stop word. Punctuation at the ends of words is ignored, and
    words that consist of punctuation have no entries.

    Args:
        source: a sentence; words are separated by blanks.
        reference: a human translation.
        links: links between their words.
        translation: the translation of a model without a dictionary.
        stop_words: stop words in lower case.
        stop_side: the side of the stop words.
        most: maximum number of entries; those further left are kept.
    """
    links = set(links)
    of_source, of_target = (Counter(link[side] for link in links) for side in (0, 1))
    sources, targets = ([_stripped(word) for word in text.split()] for text in (source, reference))
    known = {_stripped(word) for word in translation.split()}
    times = Counter(sources)
    entries = []
    for i, j in sorted(links):
        own, other = sources[i], targets[j]
        if of_source[i] != 1 or of_target[j] != 1 or times[own] != 1 or other in known:
            continue
        if not (_has_letters(own) and _has_letters(other)):
            continue
        if (own if stop_side == "source" else other).lower() in stop_words:
            continue
        entries.append(Entry(own, other))
    return entries[:most]


def _stripped(word: str) -> str:
    """Return a word without the punctuation at its ends, unless it consists of punctuation."""
    begin, end = 0, len(word)
    while begin < end and is_edge(word[begin]):
        begin += 1
    while end > begin and is_edge(word[end - 1]):
        end -= 1
    return word[begin:end] or word


def _has_letters(word: str) -> bool:
    return any(map(str.isalnum, word))
