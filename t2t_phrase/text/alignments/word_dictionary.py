"""A dictionary of words, made from a corpus and its alignments."""

from __future__ import annotations

import collections
from collections.abc import Iterable

from t2t_phrase.config import UserError
from t2t_phrase.text.alignments.pharaoh import check_range, read_links


def word_dictionary(
    pairs: Iterable[tuple[str, str, str]], *, least: int = 1, name: str = "alignments"
) -> dict[str, str]:
    """Return the translation of every source word: the word most often aligned with it.

    Of equally frequent words, the first one in the order of characters is taken. Case and
    punctuation distinguish words, as in a word-level vocabulary. Possible links do not count.

    Args:
        pairs: source, target and alignment of each sentence pair, one line of text each; the
            alignment is in Pharaoh format.
        least: minimum number of times that a source word is aligned with its translation.
        name: name of the alignments in messages, such as their file.

    Raises:
        UserError: an alignment cannot be read, or links words that do not exist.
    """
    counts: dict[str, collections.Counter[str]] = {}
    for number, (source, target, alignment) in enumerate(pairs, start=1):
        source_words, target_words = source.split(), target.split()
        try:
            links = read_links(alignment).sure
            check_range(links, len(source_words), len(target_words))
        except UserError as error:
            raise UserError(f"{name}:{number}: {error}") from error
        for i, j in links:
            counts.setdefault(source_words[i], collections.Counter())[target_words[j]] += 1
    found = {}
    for word in sorted(counts):
        translation, count = min(counts[word].items(), key=lambda item: (-item[1], item[0]))
        if count >= least:
            found[word] = translation
    return found


def dictionary_lines(dictionary: dict[str, str]) -> list[str]:
    """Return a line for each entry: the source word, a tab and the target word."""
    return [f"{source}\t{target}" for source, target in dictionary.items()]
