"""The beginnings of tokens, counted in visible (non-blank) characters.

Annotations describe words or phrases; tokens are pieces of text. Visible characters are common to
both, regardless of the blanks between words.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence


def first_visible(text: str, starts: Sequence[int]) -> list[int]:
    """Return the number, from 0, of the first visible character of each token.

    A token that is only a blank has the number of the next token, or the last one of the text.

    Args:
        text: a sentence.
        starts: where each token begins, in bytes of UTF-8, ascending.
    """
    before = {}
    offset = visible = 0
    for char in text:
        before[offset] = visible
        offset += len(char.encode())
        visible += not char.isspace()
    return [min(before.get(start, visible), visible - 1) for start in starts]


def spans_of_tokens(text: str, starts: Sequence[int], spans: Sequence[str]) -> list[int]:
    """Return the number, from 0, of the span with the first visible character of each token.

    Args:
        text: a sentence.
        starts: where each token begins, in bytes of UTF-8, ascending.
        spans: the sentence cut into pieces.
    """
    ends = list(itertools.accumulate(len("".join(span.split())) for span in spans))
    return [bisect.bisect_right(ends, number) for number in first_visible(text, starts)]
