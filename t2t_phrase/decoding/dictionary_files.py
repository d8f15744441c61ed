"""The dictionary files that guide translations."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from t2t_phrase.config import UserError
from t2t_phrase.io.files import sha256_of
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.text_files import check_regular, stream_text
from t2t_phrase.text.dictionaries.reader import (
    MODES,
    Entry,
    Mode,
    read_dictionary,
    read_sentence_dictionaries,
)

if TYPE_CHECKING:
    from t2t_phrase.decoding.dictionary import Dictionary
    from t2t_phrase.decoding.hypothesis import Hypothesis
    from t2t_phrase.decoding.terms import RequiredTerms
    from t2t_phrase.io.line_windows import Window
    from t2t_phrase.text.vocabularies import Vocabularies

NAMES = ("dictionary", "sentence_dictionary")


@dataclasses.dataclass(frozen=True)
class GivenDictionaries:
    """The entries of the dictionary files.

    Attributes:
        everywhere: entries for all sentences.
        of_sentence: entries for single sentences, by the number of the sentence from 1.
        files: the names of the files, by flag.
        mode: the purpose of the entries.
    """

    everywhere: list[Entry]
    of_sentence: dict[int, list[Entry]]
    files: Mapping[str, str]
    mode: Mode = "guide"

    def encoded(self, vocabularies: Vocabularies) -> Dictionary | RequiredTerms | None:
        """Return the dictionary with its translations as tokens; None: no dictionary is given.

        Raises:
            UserError: a translation cannot be spelt, or the vocabularies do not allow dictionaries.
        """
        if not self.files:
            return None
        from t2t_phrase.decoding.dictionary import Dictionary
        from t2t_phrase.decoding.terms import RequiredTerms
        from t2t_phrase.text.encoders import SpellingEncoder

        if not isinstance(vocabularies.source, SpellingEncoder):
            raise UserError(
                f"--{next(iter(self.files))}: tensor2tensor's own subwords cannot be aligned with "
                "the text, so no phrase can be found in it; train with a vocabulary made by "
                "t2t-phrase-datagen"
            )
        dictionary: Dictionary | RequiredTerms
        if self.mode == "require":
            dictionary = RequiredTerms(self.everywhere, vocabularies.target)
        else:
            dictionary = Dictionary(self.everywhere, vocabularies.target)
        for entries in self.of_sentence.values():
            dictionary.check(entries)
        return dictionary

    def of_window(self, window: Window) -> list[Sequence[Entry]]:
        """Return the sentence-specific entries of each line of a window."""
        first = window.first + 1
        return [self.of_sentence.get(first + i, ()) for i in range(len(window.lines))]

    def check_sentences(self, source: str | None, total: int | None) -> None:
        """Refuse entries for sentences that do not exist, if the number of sentences is known.

        Raises:
            UserError: there are entries for a sentence after the last one.
        """
        last = max(self.of_sentence, default=0)
        if total is not None and last > total:
            raise UserError(
                f"{self.of_sentence[last][0].where}: there is no sentence {last}; {source} has "
                f"{total}"
            )

    @property
    def aligns(self) -> bool:
        """Whether entries apply where tokens are aligned with their sources."""
        return bool(self.files) and self.mode == "guide"

    @property
    def settings(self) -> dict[str, str]:
        """Settings that identify the files, for a journal."""
        settings = {name: sha256_of(path)[:16] for name, path in self.files.items()}
        if self.mode != MODES[0]:
            settings["dictionary_mode"] = self.mode
        return settings


def read_dictionaries(
    dictionary: str = "", sentence_dictionary: str = "", mode: Mode = "guide"
) -> GivenDictionaries:
    """Read dictionaries from files.

    Args:
        dictionary: a file with entries for all sentences; "": none.
        sentence_dictionary: a file with entries for single sentences; "": none.
        mode: the purpose of the entries.

    Raises:
        UserError: a file cannot be read, an entry is malformed, or a mode is given without a file.
    """
    if mode != MODES[0] and not dictionary and not sentence_dictionary:
        raise UserError(
            f"--dictionary_mode={mode}: there are no entries; give --dictionary or "
            "--sentence_dictionary"
        )
    files = dict(zip(NAMES, (dictionary, sentence_dictionary), strict=True))
    files = {name: path for name, path in files.items() if path}
    for name, path in files.items():
        check_regular(name, path)

    def lines(name: str) -> Iterable[str]:
        return stream_text(files[name]) if name in files else ()

    return GivenDictionaries(
        read_dictionary(lines("dictionary"), files.get("dictionary", ""), mode),
        read_sentence_dictionaries(
            lines("sentence_dictionary"), files.get("sentence_dictionary", ""), mode
        ),
        files,
        mode,
    )


def missing_notes(
    lines: Sequence[int], hypotheses: Sequence[Hypothesis], *, first: int
) -> Iterator[str]:
    """Yield a sentence for each required entry that a translation lacks.

    Args:
        lines: numbers of the sentences, from 0, in their window.
        hypotheses: the translation of each sentence.
        first: number, from 0, of the first line of the window.
    """
    for line, hypothesis in zip(lines, hypotheses, strict=True):
        for sentence in missing_entries(hypothesis):
            yield f"line {first + line + 1}: {sentence}"


def missing_entries(hypothesis: Hypothesis) -> Iterator[str]:
    """Yield a sentence for each required entry that a translation lacks."""
    for name in hypothesis.missing:
        yield (
            f"the entry {name} is not in the translation, which has no room for all entries "
            "(extra_length, max_length)"
        )


def summary(counts: Mapping[str, int], given: GivenDictionaries, lines: int) -> str:
    """Return a sentence with the number of entries that were applied.

    Args:
        counts: "matched" and "applied".
        given: the dictionaries.
        lines: the number of sentences.
    """
    entries = len(given.everywhere) + sum(map(len, given.of_sentence.values()))
    text = (
        f"{entries} dictionary {_entries(entries)}: "
        f"{counted(counts.get('matched', 0), 'occurrence')} in the sources, "
        f"{counts.get('applied', 0)} of them applied in the translations"
    )
    beyond = sum(len(own) for number, own in given.of_sentence.items() if number > lines)
    if beyond:
        verb = "is" if beyond == 1 else "are"
        text += f"; {beyond} {_entries(beyond)} {verb} for sentences after the last one"
    return text


def _entries(count: int) -> str:
    return "entry" if count == 1 else "entries"
