"""Beginnings of outputs over the tokens of `spelling_tokens`."""

from __future__ import annotations

from spelling_tokens import PIECES, few_tokens

from t2t_phrase.decoding.padding import padded_array
from t2t_phrase.decoding.prefixes import spellings_of
from t2t_phrase.decoding.search.prefix import Prefix

TEXTS = (*PIECES, "")  # a model may have room for more tokens
# Tokens before the last word, and what of it is given.
Given = tuple[tuple[int, ...], str]


def prefix_of(given: list[Given]) -> Prefix:
    """Return the beginnings as a search reads them."""
    found = [spellings_of(word.encode(), few_tokens()) for _, word in given]
    count = len(given)
    return Prefix(
        padded_array([tokens for tokens, _ in given], count, 1),
        padded_array([[*own.parts, *own.wholes] for own in found], count, 2, last=3),
        padded_array([own.ranges for own in found], count, 2, last=2),
    )


def allowed(prefix: tuple[int, ...], given: Given, token: int) -> bool:
    """Return whether a token may follow, by the definition."""
    tokens, word = given
    if len(prefix) < len(tokens):
        return token == tokens[len(prefix)]
    written = "".join(TEXTS[each] for each in prefix[len(tokens) :])
    if len(written) >= len(word):
        return True
    whole = written + TEXTS[token]
    return TEXTS[token] != "" and (whole.startswith(word) or word.startswith(whole))


def is_given(prefix: tuple[int, ...], given: Given, token: int) -> bool:
    """Return whether all that a token spells belongs to the beginning."""
    tokens, word = given
    whole = "".join(TEXTS[each] for each in tokens) + word
    return whole.startswith("".join(TEXTS[each] for each in (*prefix, token)))
