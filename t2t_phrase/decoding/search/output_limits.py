"""Limits on the length of translations, relative to their sources.

Shapes: B sentences, S source length.
"""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.decoding.hparams import DecodeHParams


def output_limits(inputs: Any, hparams: DecodeHParams) -> Any:
    """Return (B,) int32: the longest output for each of the inputs (B, S), EOS included.

    It depends on the sentence and not on its padding, so a sentence has the same limit in any
    batch. Sentences without tokens have the limit 0.
    """
    lengths = ops.sum(ops.cast(ops.not_equal(inputs, 0), "int32"), axis=1)
    limits = lengths + hparams.extra_length
    if hparams.max_length:
        limits = ops.minimum(limits, hparams.max_length)
    return ops.where(lengths > 0, limits, 0)


def longest_output(inputs: Any, hparams: DecodeHParams) -> Any:
    """Return the longest limit for inputs (B, S): a number, or a scalar where S is unknown."""
    length = ops.shape(inputs)[1] + hparams.extra_length
    if not hparams.max_length:
        return length
    at_most = min if isinstance(length, int) else ops.minimum
    return at_most(length, hparams.max_length)
