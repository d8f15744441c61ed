"""One definition of blank characters for files, vocabularies and stored text."""

from __future__ import annotations

# Every code point for which `str.isspace` holds. SentencePiece's own blank, U+2581, is not among
# them although subwords turn it into a space; natural text does not contain it.
WHITESPACE = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    0x85,
    0xA0,
    0x1680,
    *range(0x2000, 0x200B),
    0x2028,
    0x2029,
    0x202F,
    0x205F,
    0x3000,
)


def normalize_whitespace(text: str) -> str:
    """Strip `text` and replace every run of blanks (tabs, U+00A0, U+2028, ...) by one space."""
    return " ".join(text.split())
