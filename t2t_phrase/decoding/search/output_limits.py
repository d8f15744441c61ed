"""Limits on the length of translations, relative to their sources.

Shapes: B sentences, S source length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.decoding.hparams import DecodeHParams


class OutputLimits(NamedTuple):
    """The longest outputs, EOS included.

    Attributes:
        each: (B,) int32, the limit of each sentence.
        longest: upper bound of `each`; a number, or a scalar where a graph is traced for sources of
            unknown length.
    """

    each: Any
    longest: Any


def output_limits(inputs: Any, hparams: DecodeHParams) -> OutputLimits:
    """Return the limits for inputs (B, S).

    They depend on the sentences and not on their padding, so a sentence has the same limit in any
    batch. Sentences without tokens have the limit 0.
    """
    lengths = ops.sum(ops.cast(ops.not_equal(inputs, 0), "int32"), axis=1)
    limits, longest = lengths + hparams.extra_length, ops.shape(inputs)[1] + hparams.extra_length
    if hparams.max_length:
        limits = ops.minimum(limits, hparams.max_length)
        at_most = min if isinstance(longest, int) else ops.minimum
        longest = at_most(longest, hparams.max_length)
    return OutputLimits(ops.where(lengths > 0, limits, 0), longest)


def longest_output(length: int, hparams: DecodeHParams) -> int:
    """Return the limit of a sentence of `length` tokens, EOS included; 0 for an empty one."""
    if not length:
        return 0
    longest = length + hparams.extra_length
    return min(longest, hparams.max_length) if hparams.max_length else longest
