"""Replacement of a translation's unknown words by translations of the aligned source words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from t2t_phrase.config import UserError, shown
from t2t_phrase.text.dictionaries.reader import Entry

# An unknown word, as a word-level vocabulary writes it.
UNKNOWN = "<unk>"


class UnknownWords(NamedTuple):
    """The numbers of a translation's unknown words, by kind of replacement.

    Attributes:
        translated: number of words translated by the dictionary.
        copied: number of words replaced by a copy of the source word.
        left: number of words that are aligned with no word and remain.
    """

    translated: int = 0
    copied: int = 0
    left: int = 0


class Replaced(NamedTuple):
    """A translation whose unknown words were replaced, and their numbers.

    Attributes:
        words: as many words as before.
        counts: numbers of unknown words.
    """

    words: list[str]
    counts: UnknownWords


def one_word_each(entries: Iterable[Entry]) -> dict[str, str]:
    """Return the entries of a dictionary as translations by source word.

    Raises:
        UserError: an entry has several words on one side.
    """
    for entry in entries:
        for side, phrase in (("source", entry.source), ("target", entry.target)):
            if " " in phrase:
                raise UserError(
                    f"{entry.where}: the {side} {shown(phrase)} has several words; a dictionary of "
                    "unknown words maps single words to single words"
                )
    return {entry.source: entry.target for entry in entries}


def replace_unknown(
    words: Sequence[str],
    aligned: Sequence[int | None],
    source: Sequence[str],
    dictionary: Mapping[str, str] | None = None,
) -> Replaced:
    """Replace every unknown word, as Luong et al. (2015b) and Jean et al. (2015) do.

    An unknown word becomes the dictionary's translation of the aligned source word, or a copy of
    the source word if the dictionary lacks it, as is right for names and numbers.

    Args:
        words: the words of the translation.
        aligned: the number of the source word aligned with each word, from 0; None, or a number
            beyond the last source word such as that of EOS: no word.
        source: the source words as the user wrote them, including those unknown to the model.
        dictionary: translations by source word, such as from `word_dictionary`; None: copy only.

    Raises:
        ValueError: the numbers of alignments and words differ.
    """
    if len(words) != len(aligned):
        raise ValueError(
            f"expected {len(words)} alignments, one for each word, got {len(aligned)}."
        )
    found, translated, copied, left = list(words), 0, 0, 0
    for place, (word, position) in enumerate(zip(words, aligned, strict=True)):
        if word != UNKNOWN:
            continue
        if position is None or not 0 <= position < len(source):
            left += 1
        elif dictionary is not None and source[position] in dictionary:
            found[place] = dictionary[source[position]]
            translated += 1
        else:
            found[place] = source[position]
            copied += 1
    return Replaced(found, UnknownWords(translated, copied, left))
