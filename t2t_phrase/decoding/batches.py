"""Batches of sentences of similar length, in few shapes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from t2t_phrase.decoding.padding import power_of_two

# Padded lengths are multiples of this, so that few shapes are compiled.
LENGTH_STEP = 8
# Maximum number of tokens of all outputs of a batch, as a multiple of `batch_size`.
OUTPUTS = 8


class Batch(NamedTuple):
    """The sentences of a batch, and its shape.

    Attributes:
        lines: numbers of the sentences, from 0, one for each row that is not empty.
        shape: (rows, length), the length a multiple of LENGTH_STEP.
    """

    lines: tuple[int, ...]
    shape: tuple[int, int]

    def rows(self, sequences: Sequence[Sequence[int]], pad: int = 0) -> np.ndarray:
        """Return the sequences of this batch's sentences as an int32 array of its shape.

        Args:
            sequences: one for each sentence, including those outside this batch.
            pad: value at padding.
        """
        array = np.full(self.shape, pad, "int32")
        for row, line in enumerate(self.lines):
            array[row, : len(sequences[line])] = sequences[line]
        return array


def make_batches(
    lengths: Sequence[int], batch_size: int, *, extra_length: int = 0
) -> Iterator[Batch]:
    """Yield batches of at most `batch_size` tokens (or one sentence), longest sentences first.

    Sentences of length 0 are left out. There are few shapes: lengths are multiples of LENGTH_STEP,
    and all batches of a length have the same number of rows, except that the last ones are filled
    up to a power of two with empty rows.

    Args:
        lengths: of each sentence, in tokens.
        batch_size: tokens of a batch, padding included.
        extra_length: number of tokens by which outputs may exceed inputs. If it is large, batches
            are smaller: all outputs together have at most OUTPUTS times `batch_size` tokens.
    """
    order = sorted((i for i, length in enumerate(lengths) if length), key=lambda i: -lengths[i])
    while order:
        length = -(-lengths[order[0]] // LENGTH_STEP) * LENGTH_STEP
        rows = min(batch_size // length, OUTPUTS * batch_size // (length + extra_length))
        rows = min(max(1, rows), power_of_two(len(order)))
        yield Batch(tuple(order[:rows]), (rows, length))
        order = order[rows:]
