"""Words that are too frequent to be worth a dictionary entry."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable

ENGLISH = "stop_words.en.txt"


def english_stop_words() -> frozenset[str]:
    """Return the English stop words that come with the library, in lower case."""
    text = importlib.resources.files(__package__).joinpath(ENGLISH).read_text(encoding="utf-8")
    return read_stop_words(text.splitlines())


def read_stop_words(lines: Iterable[str]) -> frozenset[str]:
    """Return the words of a list, in lower case; text after a # is a comment."""
    return frozenset(word.lower() for line in lines for word in line.partition("#")[0].split())
