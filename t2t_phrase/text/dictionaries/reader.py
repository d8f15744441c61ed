"""Dictionaries as text: `source phrase<TAB>target phrase`, for all sentences or for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from t2t_phrase.config import UserError, shown
from t2t_phrase.text.whitespace import normalize_whitespace

# More words than any phrase has; what is longer was meant to be something else.
LONGEST_PHRASE = 100
# As many digits as the number of any line has.
_DIGITS = 12


class Entry(NamedTuple):
    """A phrase and its translation.

    Attributes:
        source: one or more words, separated by single spaces.
        target: likewise.
        where: the file and line that it is from, for messages.
    """

    source: str
    target: str
    where: str = ""


def read_dictionary(lines: Iterable[str], name: str) -> list[Entry]:
    """Return the entries of a dictionary for all sentences.

    Lines without words are left out, and so are entries that repeat an earlier one.

    Args:
        lines: `source<TAB>target` each.
        name: of the file, for messages.

    Raises:
        UserError: a line is malformed, or a source has two translations.
    """
    entries: dict[str, Entry] = {}
    for number, line in _with_words(lines):
        where = f"{name}:{number}"
        fields = line.split("\t")
        if len(fields) != 2:
            hint = ""
            if len(fields) == 3 and fields[0].strip().isdecimal():
                hint = (
                    "; for a dictionary with the numbers of sentences, give --sentence_dictionary"
                )
            raise UserError(f"{where}: {_tabs(fields)}; each line must be source<TAB>target{hint}")
        _add(entries, _entry(fields, where))
    return list(entries.values())


def read_sentence_dictionaries(lines: Iterable[str], name: str) -> dict[int, list[Entry]]:
    """Return the entries of each sentence, by its number from 1.

    Lines may be in any order; those without words are left out, and so are entries that repeat an
    earlier one.

    Args:
        lines: `number<TAB>source<TAB>target` each.
        name: of the file, for messages.

    Raises:
        UserError: a line is malformed, or a source has two translations in the same sentence.
    """
    found: dict[int, dict[str, Entry]] = {}
    for number, line in _with_words(lines):
        where = f"{name}:{number}"
        fields = line.split("\t")
        if len(fields) != 3:
            raise UserError(
                f"{where}: {_tabs(fields)}; each line must be sentence number<TAB>source<TAB>target"
            )
        sentence = fields[0].strip()
        digits = sentence.isascii() and sentence.isdecimal() and len(sentence) <= _DIGITS
        if not digits or not int(sentence):
            raise UserError(
                f"{where}: {shown(sentence)} is not the number of a sentence; they are counted "
                "from 1"
            )
        _add(found.setdefault(int(sentence), {}), _entry(fields[1:], where))
    return {sentence: list(entries.values()) for sentence, entries in found.items()}


def write_sentence_dictionaries(entries: Mapping[int, Sequence[Entry]]) -> list[str]:
    """Return the lines that `read_sentence_dictionaries` reads, in the order of the sentences."""
    return [
        f"{sentence}\t{entry.source}\t{entry.target}"
        for sentence in sorted(entries)
        for entry in entries[sentence]
    ]


def _with_words(lines: Iterable[str]) -> Iterable[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def _tabs(fields: Sequence[str]) -> str:
    return "1 tab" if len(fields) == 2 else f"{len(fields) - 1} tabs"


def _entry(fields: Sequence[str], where: str) -> Entry:
    source, target = map(normalize_whitespace, fields)
    for side, phrase in (("source", source), ("target", target)):
        if not phrase:
            raise UserError(f"{where}: the {side} is empty; an entry needs words on both sides")
        if phrase.count(" ") >= LONGEST_PHRASE:
            raise UserError(
                f"{where}: the {side} has {phrase.count(' ') + 1} words; at most {LONGEST_PHRASE} "
                "are possible"
            )
    return Entry(source, target, where)


def _add(entries: dict[str, Entry], entry: Entry) -> None:
    before = entries.setdefault(entry.source, entry)
    if before.target != entry.target:
        raise UserError(
            f"{entry.where}: {shown(entry.source)} is to be {shown(entry.target)} here and "
            f"{shown(before.target)} in {before.where}; leave one of them out"
        )
