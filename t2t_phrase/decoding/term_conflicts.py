"""Entries of a dictionary that require what others forbid."""

from __future__ import annotations

from collections.abc import Iterable

from t2t_phrase.config import UserError, shown
from t2t_phrase.text.dictionaries.reader import Entry


class Bans:
    """The entries that forbid a phrase, for fast look-up.

    Args:
        entries: any; those that forbid nothing are left out.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_phrase: dict[str, Entry] = {}
        for entry in entries:
            if entry.forbidden:
                self._by_phrase.setdefault(entry.forbidden, entry)
        self._lengths = sorted({phrase.count(" ") + 1 for phrase in self._by_phrase})

    @property
    def first_words(self) -> set[str]:
        """The words with which the phrases begin."""
        return {phrase.split(" ", 1)[0] for phrase in self._by_phrase}

    def check(self, entries: Iterable[Entry]) -> None:
        """Refuse entries that require a text with a forbidden phrase.

        Raises:
            UserError: an entry requires a text with a forbidden phrase.
        """
        for entry in entries if self._by_phrase else ():
            if entry.forbidden:
                continue
            words = entry.target.split(" ")
            for length in self._lengths:
                for start in range(len(words) - length + 1):
                    ban = self._by_phrase.get(" ".join(words[start : start + length]))
                    if ban is not None:
                        raise UserError(
                            f"{entry.where} requires {shown(entry.target)}, and {ban.where} "
                            f"forbids {shown(ban.forbidden)}; leave one of them out"
                        )


class KnownEntries:
    """The entries for all sentences, which those of single sentences may contradict.

    Args:
        entries: for all sentences.

    Raises:
        UserError: the entries contradict each other.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._required: dict[str, list[Entry]] = {}
        entries = list(entries)
        self._bans = Bans(entries)
        self._bans.check(entries)
        for entry in entries:
            if not entry.forbidden:
                for word in {*entry.target.split(" ")}:
                    self._required.setdefault(word, []).append(entry)

    def check(self, entries: Iterable[Entry]) -> None:
        """Refuse entries of a sentence that contradict each other or these.

        Raises:
            UserError: the entries contradict each other or these.
        """
        entries = list(entries)
        own = Bans(entries)
        self._bans.check(entries)
        own.check(entries)
        # Entries of the sentence take the place of those with the same source.
        replaced = {entry.source for entry in entries if not entry.forbidden}
        for word in own.first_words:
            required = self._required.get(word, ())
            own.check(entry for entry in required if entry.source not in replaced)
