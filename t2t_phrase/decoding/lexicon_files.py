"""The lexicon of a command that translates a file, for shortlists."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import SHORTLISTS, DecodeHParams
from t2t_phrase.io.files import sha256_of
from t2t_phrase.io.text_files import check_regular, stream_text
from t2t_phrase.text.vocabularies import Vocabularies
from t2t_phrase.word_aligner.translation_table import Translation, read_translations

if TYPE_CHECKING:
    from t2t_phrase.decoding.shortlists import Shortlister

NAME = "lexicon_file"


@dataclasses.dataclass(frozen=True)
class GivenLexicon:
    """A lexicon, or none.

    Attributes:
        entries: its translations of words.
        path: its file; "": there is none.
    """

    entries: Sequence[Translation] = ()
    path: str = ""

    @property
    def settings(self) -> dict[str, str]:
        """The settings that results depend on, JSON-ready."""
        return {NAME: sha256_of(self.path)[:16]} if self.path else {}

    def shortlister(self, vocabularies: Vocabularies, hparams: DecodeHParams) -> Shortlister | None:
        """Return the shortlister of this lexicon; None: any target token may be used."""
        if not self.path:
            return None
        from t2t_phrase.decoding.shortlists import Shortlister

        return Shortlister(self.entries, vocabularies.target, hparams)


def read_lexicon(hparams: DecodeHParams, path: str = "") -> GivenLexicon:
    """Read a lexicon.

    Args:
        hparams: the options of decoding.
        path: a file that t2t-phrase-align has written; "": none.

    Raises:
        UserError: the file cannot be read, is malformed or cannot be used with the options, or
            options for a lexicon are given without one.
    """
    if not path:
        if unused := [f"{name}={getattr(hparams, name)}" for name in hparams.given(SHORTLISTS)]:
            raise UserError(f"{', '.join(unused)}: only used with --{NAME}")
        return GivenLexicon()
    if hparams.search:
        raise UserError(f"--{NAME}={path}: cannot be used with search={hparams.search}")
    check_regular(NAME, path)
    return GivenLexicon(read_translations(stream_text(path), path), path)
