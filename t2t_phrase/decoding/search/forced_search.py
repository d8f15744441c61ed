"""Searches for the source positions of translations that are known.

Shapes: B sentences, S source length, T target length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.aligning import POSITION
from t2t_phrase.decoding.search.alignment_expansion import REFERENCE
from t2t_phrase.decoding.search.output_limits import OutputLimits
from t2t_phrase.decoding.search.translate_ids import MakeExpansion, search
from t2t_phrase.models.aligned_pair import AlignedPair
from t2t_phrase.models.base import Features
from t2t_phrase.ops.masks import padding_mask


class Forced(NamedTuple):
    """The result of a forced search.

    Attributes:
        scores: (B,) float32, of each translation with its positions.
        positions: (B, T) int32, the source position of each token.
    """

    scores: Any
    positions: Any


def forced_search(
    pair: AlignedPair, features: Features, hparams: DecodeHParams, make_expansion: MakeExpansion
) -> Forced:
    """Return the best source positions of given targets, as far as beam search finds them.

    The score of a target is that of `alignment_expansion`, not divided by any length penalty.

    Args:
        pair: both models.
        features: "inputs" (B, S) int32 and "targets" (B, T) int32, and any other features of the
            source that the models read.
        hparams: the options of decoding; those of the output's length and `quantize` are ignored.
        make_expansion: `alignment_expansion` of the pair.
    """
    targets = ops.cast(features["targets"], "int32")
    given = {name: values for name, values in features.items() if name != "targets"}
    found = search(
        pair,
        {**given, REFERENCE: targets},
        OutputLimits(
            ops.sum(ops.cast(padding_mask(targets), "int32"), axis=1), ops.shape(targets)[1]
        ),
        hparams.replace(alpha=0.0, min_length=0, max_length=0, return_beams=False, quantize=""),
        make_expansion=make_expansion,
    )
    return Forced(found.scores[:, 0], found.notes[POSITION][:, 0])
