"""Masks over the vocabulary for a few tokens.

Shapes: B sentences, K beams, G tokens, V vocabulary size.
"""

from __future__ import annotations

from typing import Any

from keras import ops


def tokens_mask(tokens: Any, chosen: Any, vocab_size: int) -> Any:
    """Return (B, K, V) bool: True at the tokens of each sentence that each beam chooses.

    Args:
        tokens: (B, G) int32.
        chosen: (B, K, G) bool.
        vocab_size: V.
    """
    batch, beams, count = ops.shape(chosen)
    rows = ops.reshape(ops.arange(batch * beams, dtype="int32"), (batch, beams, 1))
    places = ops.reshape(rows * vocab_size + tokens[:, None], (batch * beams * count, 1))
    values = ops.reshape(ops.cast(chosen, "int32"), (batch * beams * count,))
    counts = ops.scatter(places, values, (batch * beams * vocab_size,))
    return ops.reshape(counts > 0, (batch, beams, vocab_size))


def padded_table(table: Any, vocab_size: int, pad: Any) -> Any:
    """Return (V,): a table of the vocabulary, padded for a model that has room for more tokens."""
    table = ops.convert_to_tensor(table)
    missing = vocab_size - table.shape[0]
    return ops.pad(table, [(0, missing)], constant_values=pad) if missing > 0 else table


def looked_up(table: Any, tokens: Any) -> Any:
    """Return table[tokens] of a bool table of the vocabulary; False for tokens beyond it."""
    table = ops.convert_to_tensor(table)
    known = tokens < table.shape[0]
    return ops.logical_and(known, ops.take(table, ops.where(known, tokens, 0), axis=0))
