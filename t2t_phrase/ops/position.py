"""Positions of tokens in their sentence, and the timing signal that tells them apart.

All masks, n-grams, partitions and relative distances take their positions from here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from keras import ops

from t2t_phrase.ops.rows import take_rows


def positions(length: Any, beam_size: Any = 1) -> Any:
    """Return (S,) int32: the position of each entry of a row in its sentence, counted from 0.

    Args:
        length: S; a number, or a scalar where a graph is traced for rows of unknown length.
        beam_size: number of entries at each position: a decoder's history holds those of all beams
            side by side, see `ops.masks.history_mask`; a number or a scalar.
    """
    entries = ops.arange(length, dtype="int32")
    known_one = isinstance(beam_size, int) and beam_size == 1
    return entries if known_one else entries // beam_size


def positions_at(index: Any, count: Any) -> Any:
    """Return (count,) int32: the positions of tokens that are all decoded at time `index`."""
    return ops.zeros((count,), "int32") + index


def pair_starts(pairs: Any, memory_pairs: Any) -> Any:
    """Return (B, T) int32: where each token's pair begins in the same row of a memory.

    Args:
        pairs: (B, T) int, the number of the pair that each token belongs to, see `features.PAIRS`.
        memory_pairs: (B, S) int, likewise for the memory.
    """
    same = ops.equal(pairs[:, :, None], memory_pairs[:, None, :])
    return ops.cast(ops.argmax(same, axis=-1), "int32")


def positions_in_pairs(pairs: Any) -> Any:
    """Return (B, S) int32: the positions of tokens in their sentences where rows hold several.

    Args:
        pairs: (B, S) int, as in `pair_starts`.
    """
    return positions(ops.shape(pairs)[1]) - pair_starts(pairs, pairs)


def lengths_in_pairs(pairs: Any) -> Any:
    """Return (B, S) int32: the length of each token's sentence where rows hold several.

    Args:
        pairs: (B, S) int, as in `pair_starts`.
    """
    same = ops.equal(pairs[:, :, None], pairs[:, None, :])
    return ops.sum(ops.cast(same, "int32"), axis=-1)


def places_in_rows(places: Any, pairs: Any, memory_pairs: Any) -> Any:
    """Return (B, T) int32: positions within sentences of a memory as positions within its rows.

    Args:
        places: (B, T) int, for each token a position in the memory's sentence of the token's pair.
        pairs: (B, T) int, as in `pair_starts`.
        memory_pairs: (B, S) int, likewise.

    Returns:
        -1 for a position outside that sentence.
    """
    places = ops.cast(places, "int32")
    rows = places + pair_starts(pairs, memory_pairs)
    found = take_rows(memory_pairs, ops.clip(rows, 0, ops.shape(memory_pairs)[1] - 1))
    inside = ops.logical_and(places >= 0, rows < ops.shape(memory_pairs)[1])
    return ops.where(ops.logical_and(inside, ops.equal(found, pairs)), rows, -1)


def timing_signal(positions: Any, hidden_size: int) -> Any:
    """Return (T, D) float32: at position t, $sin(t f_i)$ for all i, then $cos(t f_i)$.

    The D/2 frequencies decrease geometrically from 1 to 1e-4, as in tensor2tensor.

    Differs from the paper: Vaswani et al. (2017), Section 3.5, interleave sines and cosines, which
    only permutes these blocks, and let the frequencies end one step before 1e-4.

    Args:
        positions: (T,) int.
        hidden_size: D; if odd, the last number is 0.
    """
    count = hidden_size // 2
    step = math.log(1e4) / max(count - 1, 1)
    frequency = np.exp(-step * np.arange(count)).astype("float32")
    angle = ops.cast(positions, "float32")[:, None] * frequency[None, :]
    signal = ops.concatenate([ops.sin(angle), ops.cos(angle)], axis=1)
    return ops.pad(signal, [(0, 0), (0, hidden_size % 2)])
