"""Word alignments: for each token of one side, the position of a token of the other side."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from typing import TypeVar

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.text.alignments.one_source import source_word_of_each
from t2t_phrase.text.alignments.pharaoh import check_range, read_links, write_links
from t2t_phrase.text.annotations.base import Annotation, Sentence
from t2t_phrase.text.visible import spans_of_tokens

T = TypeVar("T", str, Sentence)


@registry.annotation_types.register
class Alignment(Annotation):
    """Links `source-target` between words, such as "0-0 1-2", for the tokens of the target.

    Words are separated by blanks. The integer of a token is the position of the first token of the
    source word that `source_word_of_each` returns for the word of the token's first visible
    character; if that word begins with a character spelt by bytes, the position of the last byte.
    EOS, and every token of a sentence without links, are aligned with the source's EOS. In a file
    next to the corpus, lines may also have possible links, which are left out.
    """

    needs_other = True

    def read(self, sentence: str, line: str, other: str | None = None) -> str:
        """Return the sure links of a line.

        Raises:
            UserError: the line is malformed, or a linked word does not exist.
        """
        links = read_links(line)
        check_range(links.all, len(_known(other).split()), len(sentence.split()))
        return write_links(links.sure)

    def encode(self, own: Sentence, text: str, other: Sentence | None = None) -> list[int]:
        """Return the position of the source token that each token is aligned with.

        Links to words beyond the end of `other`, if it is cut, count as links to its EOS.

        Raises:
            UserError: the text is malformed, or a linked word does not exist.
        """
        source = _known(other)
        words = own.text.split()
        links = read_links(text).sure
        check_range(links, len(source.text.split()) if source.is_whole else None, len(words))
        aligned = source_word_of_each(links, len(words))
        end = len(source.ids)
        if aligned is None:
            return [end] * len(own.ids)
        first = _first_tokens(source)
        positions = [first[i] if i < len(first) else end for i in aligned]
        return [positions[i] for i in spans_of_tokens(own.text, own.starts, words)]

    def end(self, numbers: Sequence[int], other: Sentence | None = None) -> int:
        """Return the position of the source's EOS."""
        del numbers
        return len(_known(other).ids)


@registry.annotation_types.register
class AlignmentReversed(Alignment):
    """The same lines, for the tokens of the source: the text form has links `target-source`."""

    def read(self, sentence: str, line: str, other: str | None = None) -> str:
        """Return the sure links of a line, with source and target exchanged.

        Raises:
            UserError: the line is malformed, or a linked word does not exist.
        """
        text = super().read(_known(other), line, sentence)
        return write_links((j, i) for i, j in read_links(text).sure)


def _first_tokens(sentence: Sentence) -> list[int]:
    """Return the position of the token that contains each word's first visible character."""
    positions = []
    for start in _word_starts(sentence.text):
        # Of tokens that begin at the same place, all but the last are blank, or bytes.
        found = bisect.bisect_right(sentence.starts, start) - 1
        positions.append(max(found, 0))
    return positions


def _word_starts(text: str) -> Iterator[int]:
    """Yield where each word begins, in bytes."""
    offset = 0
    blank = True
    for char in text:
        if blank and not char.isspace():
            yield offset
        blank = char.isspace()
        offset += len(char.encode())


def _known(other: T | None) -> T:
    if other is None:
        raise UserError("an alignment can be read only where both sentences are known")
    return other
