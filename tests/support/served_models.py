"""A SavedModel gives what decoder and scorer give."""

from __future__ import annotations

import pathlib

import numpy as np
import tensorflow as tf
from toy_run import ToyRun

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.saved_model import export


def assert_a_saved_model_is_the_decoder(toy: ToyRun, folder: pathlib.Path) -> None:
    """Export a model and check its translations and scores.

    Args:
        toy: a run.
        folder: to export to.
    """
    options = DecodeHParams(beam_size=3, extra_length=4)
    exported = export(toy.model, toy.vocabularies, options, folder)
    served = tf.saved_model.load(str(exported)).signatures
    lines = ["the house is old", "dogs", "", "a cat sleeps in it while dogs run far away"]
    found = served["serving_default"](text=tf.constant(lines))
    expected = [
        beams[0] for beams in Translator(toy.model, toy.vocabularies, options).translate(lines)
    ]
    texts = [text.decode() for text in found["translation"].numpy()]
    assert texts == [hypothesis.text for hypothesis in expected]
    assert len(set(texts)) > 2
    np.testing.assert_allclose(found["score"], [h.score for h in expected], rtol=1e-4, atol=1e-5)
    pairs = list(zip(lines, reversed(lines), strict=True))
    scores = served["score"](
        source=tf.constant([pair[0] for pair in pairs]),
        target=tf.constant([pair[1] for pair in pairs]),
    )["log_probability"]
    np.testing.assert_allclose(scores, Scorer(toy.model, toy.vocabularies).score(pairs), rtol=1e-4)
