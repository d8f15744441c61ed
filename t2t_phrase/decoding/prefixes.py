"""The beginnings of translations, from text to the arrays that `search.prefix` reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.config import UserError, shown
from t2t_phrase.decoding.batches import Batch
from t2t_phrase.decoding.padding import padded_array
from t2t_phrase.decoding.search.prefix import EDGES, RANGES, TOKENS
from t2t_phrase.io.unicode_text import check_unicode
from t2t_phrase.text.encoders import SpellingEncoder
from t2t_phrase.text.token_texts import Edge, TokenTexts, spelt, without_dead_ends
from t2t_phrase.text.vocabularies import Encoder


@dataclasses.dataclass(frozen=True)
class SentencePrefix:
    """The beginning of a translation.

    Attributes:
        tokens: the tokens before the last word; those of all words if there is no room for any
            other spelling of the last one.
        edges: the tokens that spell a part of the last word, see `search.prefix.Prefix`.
        ranges: for each place in the last word, the ranks of the tokens that spell the rest of the
            word or more; (): there is no last word.
    """

    tokens: Sequence[int] = ()
    edges: Sequence[Edge] = ()
    ranges: Sequence[tuple[int, int]] = ()


class Prefixes:
    """Encodes beginnings of translations.

    Args:
        encoder: of the target.

    Raises:
        UserError: the vocabulary consists of tensor2tensor's own subwords.
    """

    def __init__(self, encoder: Encoder) -> None:
        if not isinstance(encoder, SpellingEncoder):
            raise UserError(
                "prefixes cannot be used with tensor2tensor's own subwords; train with a "
                "vocabulary made by t2t-phrase-datagen"
            )
        self._encoder = encoder
        self.texts = TokenTexts(encoder)

    def encode_all(
        self, texts: Sequence[str], limits: Sequence[int], *, name: str, first: int = 0
    ) -> list[SentencePrefix]:
        """Return the beginnings of translations as tokens, see `encode`.

        Args:
            texts: one for each sentence.
            limits: maximum number of tokens of each translation, EOS included; 0: its source has no
                words.
            name: of the file, for messages.
            first: number, from 0, of the first line in its file.

        Raises:
            UserError: the numbers of texts and sentences differ, or as for `encode`.
        """
        if len(texts) != len(limits):
            raise UserError(
                f"prefixes: {len(texts)} for {len(limits)} sentences; give one for each, which may "
                "be empty"
            )
        return [
            self.encode(text, longest=longest, where=f"{name}:{number}")
            for number, (text, longest) in enumerate(zip(texts, limits, strict=True), first + 1)
        ]

    def encode(self, text: str, *, longest: int, where: str) -> SentencePrefix:
        """Return a beginning as tokens.

        The translation may continue the last word. If a blank follows the last word, the
        translation continues with another word instead.

        Args:
            text: the beginning of the translation; if it has no words, any beginning is allowed.
            longest: maximum number of tokens of the translation, EOS included; 0: its source has no
                words.
            where: file and line, for messages.

        Raises:
            UserError: no tokens spell the text, it has too many tokens or is not valid Unicode, or
                the source has no words.
        """
        check_unicode(text, where)
        words = text.split()
        if not words:
            return SentencePrefix()
        if not longest:
            raise UserError(
                f"{where}: the sentence has no words, so its translation is empty and cannot begin "
                f"with {shown(text)}"
            )
        whole = text != text.rstrip()
        before = " ".join(words if whole else words[:-1])
        tokens = self._encoder.encode(before)
        if self._encoder.decode(tokens).split() != before.split():
            raise _untypable(where, text, self._encoder.decode(tokens))
        last = b" " if whole else spelt(words[-1])
        parts, wholes, ranges = spellings_of(last, self.texts)
        low, high = ranges[0]
        if low == high and not any(edge.start == 0 for edge in parts):
            raise _untypable(where, text, self._encoder.decode(self._encoder.encode(text)))
        # After a space, there must be another word.
        needed = len(self._encoder.encode(text)) + whole + 1
        if needed > longest:
            raise UserError(
                f"{where}: the prefix needs {needed - 1} tokens, but a translation of this "
                f"sentence has at most {longest - 1} before EOS (extra_length, max_length); "
                "shorten it"
            )
        if parts and len(tokens) + len(last) >= longest:
            # There might be no room for other spellings of the last word.
            every = self._encoder.encode(text)
            if self._encoder.decode(every).split() == words:
                return SentencePrefix(every)
        return SentencePrefix(tokens, [*parts, *wholes], ranges)


class Spellings(NamedTuple):
    """The tokens that can spell the last word of a beginning.

    Attributes:
        parts: those that spell a part of it and leave a rest.
        wholes: those that spell a rest of it and no more; where they end is 0.
        ranges: see `SentencePrefix`.
    """

    parts: Sequence[Edge]
    wholes: Sequence[Edge]
    ranges: Sequence[tuple[int, int]]


def spellings_of(word: bytes, texts: TokenTexts) -> Spellings:
    """Return the tokens that can spell a word.

    Args:
        word: the word, with the blank before it.
        texts: of the target vocabulary.
    """
    places = range(len(word))
    ranges = [texts.ranks_beginning_with(word[at:]) for at in places]
    ends = {at for at, (low, high) in enumerate(ranges) if low < high}
    shorter = [edge for edge in texts.edges(word) if edge.end < len(word)]
    wholes = [Edge(at, 0, token) for at in places for token in texts.tokens_of(word[at:])]
    return Spellings(without_dead_ends(shorter, ends), wholes, ranges)


def prefix_arrays(prefixes: Sequence[SentencePrefix], batch: Batch) -> dict[str, np.ndarray]:
    """Return the prefixes of a batch as `search.prefix` reads them, by name; {}: there are none.

    Args:
        prefixes: one for each sentence, including those outside this batch; (): no prefixes.
        batch: selects the sentences.
    """
    own = [prefixes[line] for line in batch.lines] if prefixes else []
    if not any(prefix.tokens or prefix.ranges for prefix in own):
        return {}
    rows = batch.shape[0]
    return {
        TOKENS: padded_array([prefix.tokens for prefix in own], rows, 1),
        EDGES: padded_array([prefix.edges for prefix in own], rows, 2, last=3),
        RANGES: padded_array([prefix.ranges for prefix in own], rows, 2, last=2),
    }


def _untypable(where: str, text: str, spelt_as: str) -> UserError:
    return UserError(
        f"{where}: the model cannot write {shown(text)}, because part of it is not in the target "
        f"vocabulary (it would be {shown(spelt_as)}); use another prefix"
    )
