"""Attention between words: the subwords of each word are merged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from t2t_phrase.insights.labels import Token, ngram_labels


def word_groups(tokens: Sequence[Token]) -> np.ndarray:
    """Return (W, T) bool: which of the T tokens belong to each of the W words of a sentence."""
    starts = [not (token.continues and place) for place, token in enumerate(tokens)]
    numbers = np.cumsum(starts) - 1
    return np.arange(numbers[-1] + 1)[:, None] == numbers


def word_labels(tokens: Sequence[Token]) -> list[str]:
    """Return the text of each word of a sentence."""
    labels = []
    for row in word_groups(tokens):
        subwords = [token for token, inside in zip(tokens, row, strict=True) if inside]
        labels.append(subwords[0].word or ngram_labels(subwords, len(subwords))[-1])
    return labels


def between_words(
    block: np.ndarray,
    rows: Sequence[Token] | None,
    columns: Sequence[Token] | None,
) -> np.ndarray:
    """Return attention between words: the mean over a query's subwords, the sum over a key's.

    So the weights of a word still add up to the same total as those of a subword.

    Args:
        block: (T, S) weights between tokens.
        rows: the T tokens; None: rows stay as they are.
        columns: the S tokens; None: columns stay as they are.
    """
    if rows is not None:
        groups = word_groups(rows).astype(block.dtype)
        block = groups @ block / groups.sum(axis=1, keepdims=True)
    if columns is not None:
        block = block @ word_groups(columns).T.astype(block.dtype)
    return block
