"""Replaces unknown words of a translation by translations of the words they are aligned with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from t2t_phrase.config import UserError, shown
from t2t_phrase.text.dictionaries.reader import Entry

# How a word-level vocabulary writes a word that it lacks.
UNKNOWN = "<unk>"


class UnknownWords(NamedTuple):
    """The number of a translation's unknown words by how they were replaced.

    Attributes:
        translated: how many the dictionary translated.
        copied: how many are copies of the source word.
        left: how many are aligned with no word and remain.
    """

    translated: int = 0
    copied: int = 0
    left: int = 0


class Replaced(NamedTuple):
    """A translation without its unknown words, and how they were replaced.

    Attributes:
        words: as many as before.
        counts: of the unknown ones.
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
                    "unknown words translates single words by single words"
                )
    return {entry.source: entry.target for entry in entries}


def replace_unknown(
    words: Sequence[str],
    aligned: Sequence[int | None],
    source: Sequence[str],
    dictionary: Mapping[str, str] | None = None,
    *,
    unknown: str = UNKNOWN,
) -> Replaced:
    """Replace every unknown word, as Luong et al. (2015b) and Jean et al. (2015) do.

    An unknown word becomes the dictionary's translation of the source word that it is aligned with,
    or that word itself if the dictionary lacks it, as names and numbers should.

    Args:
        words: of the translation.
        aligned: the number of the source word of each of them, from 0; None, or a number beyond the
            last source word such as that of EOS: no word.
        source: the source's words as the user wrote them, also those that the model does not know.
        dictionary: translations by source word, such as from `word_dictionary`; None: copy only.
        unknown: how an unknown word is written.

    Raises:
        ValueError: the numbers of alignments and words differ.
    """
    if len(words) != len(aligned):
        raise ValueError(
            f"expected {len(words)} alignments, one for each word, got {len(aligned)}."
        )
    found, translated, copied, left = list(words), 0, 0, 0
    for place, (word, position) in enumerate(zip(words, aligned, strict=True)):
        if word != unknown:
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
