"""Learning a word vocabulary: the most frequent words."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.text.words.encoder import HEADER, SPECIAL


def train_words(
    sentences: Iterable[str], *, vocab_size: int, user_defined_symbols: Sequence[str] = ()
) -> bytes:
    """Return the vocabulary of the most frequent words, for `WordEncoder`.

    Of equally frequent words, those first in Unicode order are taken, so the order of the sentences
    does not matter.

    Args:
        sentences: words separated by blanks; read once.
        vocab_size: number of words, including the three special ones. A corpus with fewer words
            yields fewer.
        user_defined_symbols: words that are included even if they are rare, such as tags; they
            follow the special words.

    Raises:
        UserError: there is no text, or `vocab_size` leaves no room for words.
    """
    reserved = [*SPECIAL, *user_defined_symbols]
    if vocab_size <= len(reserved):
        raise UserError(
            f"vocab_size={vocab_size} is too small: {len(reserved)} entries are special words"
        )
    counts: collections.Counter[str] = collections.Counter()
    for sentence in sentences:
        counts.update(sentence.split())
    for word in reserved:
        del counts[word]
    if not counts:
        raise UserError("the training text is empty: there are no words for a vocabulary")
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    words = [*user_defined_symbols, *ranked[: vocab_size - len(reserved)]]
    return HEADER + "".join(f"{word}\n" for word in words).encode()
