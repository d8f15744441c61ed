"""Dictionaries as text: `source phrase<TAB>target phrase`, for all sentences or single ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from t2t_phrase.config import UserError, shown
from t2t_phrase.text.whitespace import normalize_whitespace

# More words than any phrase has; a longer text was meant to be something else.
LONGEST_PHRASE = 100
# Enough digits for the number of any line.
_DIGITS = 12
# Precedes a target that must not appear; the next character is not a blank.
FORBIDS = "!"
# The use of entries: to guide the search at source words, or to hold in every translation.
Mode = Literal["guide", "require"]
MODES: tuple[Mode, ...] = ("guide", "require")


class Entry(NamedTuple):
    """A phrase and its translation.

    Attributes:
        source: one or more words, separated by single spaces.
        target: likewise.
        where: file and line of the entry, for messages.
    """

    source: str
    target: str
    where: str = ""

    @property
    def forbidden(self) -> str:
        """The phrase that a `!target` of a required dictionary forbids; "": none."""
        marked = self.target.startswith(FORBIDS) and self.target[1:2].strip()
        return self.target[1:] if marked else ""


def read_dictionary(
    lines: Iterable[str], name: str, mode: Mode = "guide", *, alone: bool = False
) -> list[Entry]:
    """Return the entries of a dictionary for all sentences.

    Lines without words are left out, and so are entries that repeat an earlier one.

    Args:
        lines: lines of the form `source<TAB>target`.
        name: name of the file, for messages.
        mode: the use of the entries. Where they are required, a source may have several targets,
            and forbidden phrases need no source.
        alone: whether there is neither a dictionary of single sentences nor a mode that could be
            recommended.

    Raises:
        UserError: a line is malformed, or a source in mode "guide" has two translations.
    """
    entries: dict[tuple[str, ...], Entry] = {}
    for number, line in _with_words(lines):
        where = f"{name}:{number}"
        fields = line.split("\t")
        if len(fields) != 2:
            hint = ""
            if len(fields) == 3 and fields[0].strip().isdecimal() and not alone:
                hint = "; for a dictionary with sentence numbers, give --sentence_dictionary"
            raise UserError(f"{where}: {_tabs(fields)}; each line must be source<TAB>target{hint}")
        _add(entries, _entry(fields, where, mode), mode, alone=alone)
    return list(entries.values())


def read_sentence_dictionaries(
    lines: Iterable[str], name: str, mode: Mode = "guide"
) -> dict[int, list[Entry]]:
    """Return the entries of each sentence, by its number from 1.

    Lines may be in any order; those without words are left out, and so are entries that repeat an
    earlier one.

    Args:
        lines: lines of the form `number<TAB>source<TAB>target`.
        name: name of the file, for messages.
        mode: see `read_dictionary`.

    Raises:
        UserError: a line is malformed, or a source in mode "guide" has two translations in the same
            sentence.
    """
    found: dict[int, dict[tuple[str, ...], Entry]] = {}
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
                f"{where}: {shown(sentence)} is not a sentence number; sentences are numbered from "
                "1"
            )
        _add(found.setdefault(int(sentence), {}), _entry(fields[1:], where, mode), mode)
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


def _entry(fields: Sequence[str], where: str, mode: Mode) -> Entry:
    source, target = map(normalize_whitespace, fields)
    entry = Entry(source, target, where)
    for side, phrase in (("source", source), ("target", target)):
        if not phrase and not (mode == "require" and side == "source" and entry.forbidden):
            raise UserError(f"{where}: the {side} is empty; an entry needs words on both sides")
        if phrase.count(" ") >= LONGEST_PHRASE:
            raise UserError(
                f"{where}: the {side} has {phrase.count(' ') + 1} words; at most {LONGEST_PHRASE} "
                "are possible"
            )
    return entry


def _add(
    entries: dict[tuple[str, ...], Entry], entry: Entry, mode: Mode, *, alone: bool = False
) -> None:
    key = (entry.source,) if mode == "guide" else (entry.source, entry.target)
    before = entries.setdefault(key, entry)
    if before.target != entry.target:
        hint = "" if alone else ", or allow both as alternatives with --dictionary_mode=require"
        raise UserError(
            f"{entry.where}: {shown(entry.source)} is translated as {shown(entry.target)} here and "
            f"as {shown(before.target)} in {before.where}; remove one of them{hint}"
        )
