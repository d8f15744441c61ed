"""The best pairs of tokens and source positions."""

import numpy as np
from keras import ops

from t2t_phrase.decoding.search.best_pairs import Best, Evaluated
from t2t_phrase.special_ids import EOS_ID


def test_a_barred_eos_does_not_end_a_hypothesis() -> None:
    logits = ops.array([[[0.0, 5.0, 1.0]]])
    barred = ops.arange(3)[None, None] == EOS_ID
    none = Best.none(ops.zeros((1, 1), "int32"))
    for evaluated, ends in ((Evaluated(logits), True), (Evaluated(logits, None, barred), False)):
        best = none.merged(ops.zeros((1, 1)), ops.zeros((1, 1), "int32"), evaluated)
        assert np.isfinite(np.asarray(best.ended)).item() == ends
