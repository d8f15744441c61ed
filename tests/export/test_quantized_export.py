"""A SavedModel multiplies by 8-bit integers as the decoder does."""

import numpy as np
import pytest
import tensorflow as tf
from toy_run import make_toy_run

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.saved_model import export
from t2t_phrase.ops import quantized

OPTIONS = DecodeHParams(beam_size=3, extra_length=8, quantize="int8")
LINES = ["the house is old", "", "dogs", "a cat sleeps in it while dogs run far away"]


@pytest.mark.slow
def test_it_translates_as_the_decoder(tmp_path):
    if not quantized._onednn_is_there():
        pytest.skip("this TensorFlow has no product of 8-bit integers")
    toy = make_toy_run(tmp_path / "toy")
    loaded = tf.saved_model.load(
        str(export(toy.model, toy.vocabularies, OPTIONS, tmp_path / "export", about={"step": 30}))
    )
    translate = loaded.signatures["serving_default"]
    found = translate(text=tf.constant(LINES))
    expected = [
        best for best, *_ in Translator(toy.model, toy.vocabularies, OPTIONS).translate(LINES)
    ]
    assert [text.decode() for text in found["translation"].numpy()] == [h.text for h in expected]
    np.testing.assert_allclose(found["score"], [h.score for h in expected], rtol=1e-4, atol=1e-6)
    functions = translate.graph.as_graph_def().library.function
    assert any(node.op == "_QuantizedMatMul" for each in functions for node in each.node_def)
