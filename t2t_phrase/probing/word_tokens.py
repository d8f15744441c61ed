"""The token that stands for a word."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from t2t_phrase.text.visible import first_visible


def word_tokens(text: str, token_starts: Sequence[int], word_starts: Sequence[int]) -> list[int]:
    """Return the number, from 0, of the token that holds the first character of each word.

    The state of a word's first token has attended to all others, and is computed in the same way
    for words of one token and of several. Words that share a token, such as "can" and "not" in
    "cannot", share its state.

    Args:
        text: the sentence.
        token_starts: where each token begins, in bytes of UTF-8, ascending.
        word_starts: for each word, the number of its first visible character.
    """
    begins = first_visible(text, token_starts)
    # The last token that begins there or before: an earlier one may be only a blank.
    return [max(0, bisect.bisect_right(begins, start) - 1) for start in word_starts]


def word_ends(firsts: Sequence[int], tokens: int) -> list[int]:
    """Return, for each word, one more than the number of its last token.

    The last token is the one before the next word's first token; a word has at least one.

    Args:
        firsts: the result of `word_tokens`.
        tokens: number of tokens of the sentence, without EOS.
    """
    following = [*firsts[1:], tokens]
    return [max(first + 1, end) for first, end in zip(firsts, following, strict=True)]
