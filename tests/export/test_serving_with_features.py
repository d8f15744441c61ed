import numpy as np
import pytest
import tensorflow as tf
from toy_run import make_toy_run

from t2t_phrase.decoding.batches import make_batches
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.saved_model import export
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.export.smoke_client import translate_local

CUTS = [["the house", "is", "old"], [], ["a cat", "sleeps in it", "while dogs", "run"], ["dogs"]]
LINES = ["the  house is old", " ", "a cat sleeps in it while dogs run", "dogs"]
SERVED = ["\t".join(cut) for cut in CUTS]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    return make_toy_run(folder, hparams_set="phrase_representation_parse_demo")


@pytest.mark.parametrize("max_input_size", [0, 4])
def test_phrases_are_padded_as_the_decoder_pads_them(toy, max_input_size):
    hparams = DecodeHParams(max_input_size=max_input_size)
    module = ServingModule(toy.model, *toy.vocabularies, hparams)
    lines = Translator(toy.model, toy.vocabularies, hparams).encode(LINES, {"phrases": SERVED})
    (batch,) = make_batches([len(ids) for ids in lines.ids], 4096)
    expected = lines.of_batch(batch)
    inputs = (tf.constant(LINES), tf.constant(SERVED))
    found, cut = module.source.encode(*inputs, max_tokens=max_input_size)
    assert cut.numpy().any() == bool(max_input_size)
    assert set(found) == {"inputs", "phrases"}
    for name, values in found.items():
        rows = {i: row for i, row in zip(batch.lines, expected[name], strict=False)}
        for i, row in enumerate(values.numpy()):
            np.testing.assert_array_equal(row, rows.get(i, np.zeros_like(row)))
    # To be scored, an empty sentence is EOS alone, a phrase of its own.
    whole, _ = module.source.encode(*inputs, keep_empty=True)
    assert whole["phrases"][1].numpy().tolist()[:2] == [1, 0]


def test_the_saved_model_gives_what_the_decoder_gives(toy, tmp_path):
    hparams = DecodeHParams(beam_size=2, extra_length=6)
    folder = export(toy.model, toy.vocabularies, hparams, tmp_path)
    found = Translator(toy.model, toy.vocabularies, hparams).translate(
        LINES, features={"phrases": SERVED}
    )
    served = translate_local(str(tmp_path), LINES, {"phrases": SERVED})
    assert [text for text, _ in served] == [beams[0].text for beams in found]
    np.testing.assert_allclose(
        [score for _, score in served], [beams[0].score for beams in found], rtol=1e-4
    )
    signatures = tf.saved_model.load(str(folder)).signatures
    inputs = {name: set(f.structured_input_signature[1]) for name, f in signatures.items()}
    assert inputs["serving_default"] == inputs["nbest"] == {"text", "phrases"}
    assert inputs["score"] == {"source", "target", "phrases"}
    targets = LINES[::-1]
    scores = signatures["score"](
        source=tf.constant(LINES), target=tf.constant(targets), phrases=tf.constant(SERVED)
    )["log_probability"]
    pairs = list(zip(LINES, targets, strict=True))
    expected = Scorer(toy.model, toy.vocabularies).score(pairs, features={"phrases": SERVED})
    np.testing.assert_allclose(scores, expected, rtol=1e-4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="phrases must be the text with tabs"):
        signatures["serving_default"](text=tf.constant(["a"]), phrases=tf.constant(["b"]))
