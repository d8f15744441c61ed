"""The file with translations of unknown words, and counts of the words that were replaced."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.io.files import sha256_of
from t2t_phrase.io.text_files import check_regular, stream_text
from t2t_phrase.text.dictionaries.reader import read_dictionary
from t2t_phrase.text.dictionaries.unknown_words import one_word_each

if TYPE_CHECKING:
    from t2t_phrase.decoding.hypothesis import Hypothesis

NAME = "unknown_dictionary"


@dataclasses.dataclass(frozen=True)
class GivenUnknown:
    """Options for the replacement of unknown words.

    Attributes:
        words: translations by source word; None: there is no dictionary.
        file: the dictionary's name; "": there is none.
        wanted: whether unknown words are replaced.
    """

    words: Mapping[str, str] | None
    file: str
    wanted: bool

    @property
    def settings(self) -> dict[str, str]:
        """Settings that identify the file, for records."""
        return {NAME: sha256_of(self.file)[:16]} if self.file else {}

    def counts(self, hypotheses: Sequence[Hypothesis]) -> dict[str, int]:
        """Count the unknown words of some translations by how they were replaced."""
        if not self.wanted:
            return {}
        names = ("translated", "copied", "left")
        return {
            name: sum(getattr(hypothesis.unknown, name) for hypothesis in hypotheses)
            for name in names
        }

    def summary(self, counts: Mapping[str, int]) -> str:
        """Return a sentence with the number of unknown words by how they were replaced."""
        translated, copied, left = (counts.get(n, 0) for n in ("translated", "copied", "left"))
        return (
            f"{translated + copied + left} unknown words: {translated} translated by the "
            f"dictionary, {copied} copied from the source, {left} left"
        )


def read_unknown(hparams: DecodeHParams, path: str = "") -> GivenUnknown:
    """Read the dictionary that translates unknown words.

    Args:
        hparams: the options of decoding.
        path: the file; "": none.

    Raises:
        UserError: the file cannot be read, an entry is malformed, or unknown words are not
            replaced.
    """
    if not path:
        return GivenUnknown(None, "", hparams.replace_unknown)
    if not hparams.replace_unknown:
        raise UserError(f"--{NAME}={path}: is only used with --decode_hparams=replace_unknown=true")
    check_regular(NAME, path)
    words = one_word_each(read_dictionary(stream_text(path), path, alone=True))
    return GivenUnknown(words, path, hparams.replace_unknown)
