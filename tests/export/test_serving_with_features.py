from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf
from random_weights import randomize
from toy_run import ToyRun, make_toy_run

from t2t_phrase.decoding.batches import make_batches
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.saved_model import export
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.export.smoke_client import translate_local

LINES = ["the  house is old", " ", "a cat sleeps in it while dogs run", "dogs"]
PHRASES = ["the house\tis\told", "", "a cat\tsleeps in it\twhile dogs\trun", "dogs"]
LEVELS = ["the house\tis\t\told", "", "a\t\tcat\tsleeps\t\tin\t\t\tit while\tdogs\t\trun", "dogs"]


class Case(NamedTuple):
    """A run whose model reads a feature, its name, and its text for each of LINES."""

    toy: ToyRun
    name: str
    texts: list[str]


def make_case(folder, hparams_set):
    name, texts, sizes = "phrases", PHRASES, {}
    if hparams_set.startswith("mgsa"):
        name, texts, sizes = "levels", LEVELS, {"num_heads": 4}
    if "onlstm" in hparams_set:
        sizes["on_lstm_chunk_size"] = 2
    toy = make_toy_run(folder, hparams_set=hparams_set, **sizes)
    # Initial weights are so small that segments hardly matter.
    randomize(toy.model, seed=1)
    return Case(toy, name, texts)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("phrase_representation_parse_demo", marks=pytest.mark.slow),
        pytest.param("mgsa_syntax_onlstm_demo", marks=pytest.mark.slow),
        pytest.param("mgsa_syntax_lstm_demo", marks=pytest.mark.slow),
        "mgsa_syntax_demo",
    ],
)
def case(request, tmp_path_factory):
    return make_case(tmp_path_factory.mktemp("toy"), request.param)


@pytest.mark.parametrize("max_input_size", [0, 4])
def test_features_are_padded_as_the_decoder_pads_them(case, max_input_size):
    hparams = DecodeHParams(max_input_size=max_input_size)
    toy, given = case.toy, {case.name: case.texts}
    module = ServingModule(toy.model, *toy.vocabularies, hparams)
    lines = Translator(toy.model, toy.vocabularies, hparams).encode(LINES, given)
    (batch,) = make_batches([len(ids) for ids in lines.ids], 4096)
    expected = lines.of_batch(batch)
    inputs = (tf.constant(LINES), tf.constant(case.texts))
    found, cut = module.source.encode(*inputs, max_tokens=max_input_size)
    assert cut.numpy().any() == bool(max_input_size)
    assert set(found) == {"inputs", case.name}
    for name, values in found.items():
        rows = {i: row for i, row in zip(batch.lines, expected[name], strict=False)}
        for i, row in enumerate(values.numpy()):
            np.testing.assert_array_equal(row, rows.get(i, np.zeros_like(row)))
    # To be scored, an empty sentence is EOS alone, a segment of its own.
    whole, _ = module.source.encode(*inputs, keep_empty=True)
    assert whole[case.name][1].numpy().tolist()[:2] == [1, 0]


@pytest.mark.slow
def test_the_saved_model_gives_what_the_decoder_gives(case, tmp_path):
    toy, given = case.toy, {case.name: case.texts}
    hparams = DecodeHParams(beam_size=2, extra_length=6)
    folder = export(toy.model, toy.vocabularies, hparams, tmp_path)
    found = Translator(toy.model, toy.vocabularies, hparams).translate(LINES, features=given)
    served = translate_local(str(tmp_path), LINES, given)
    assert [text for text, _ in served] == [beams[0].text for beams in found]
    expected = [beams[0].score for beams in found]
    np.testing.assert_allclose([score for _, score in served], expected, rtol=1e-4)

    signatures = tf.saved_model.load(str(folder)).signatures
    inputs = {name: set(f.structured_input_signature[1]) for name, f in signatures.items()}
    assert inputs["serving_default"] == inputs["nbest"] == {"text", case.name}
    assert inputs["score"] == {"source", "target", case.name}
    targets = LINES[::-1]
    scores = signatures["score"](
        source=tf.constant(LINES),
        target=tf.constant(targets),
        **{case.name: tf.constant(case.texts)},
    )["log_probability"]
    pairs = list(zip(LINES, targets, strict=True))
    forced = Scorer(toy.model, toy.vocabularies).score(pairs, features=given)
    np.testing.assert_allclose(scores, forced, rtol=1e-4)

    def serve(texts, annotations):
        strings = {"text": texts, case.name: annotations}
        return signatures["serving_default"](
            **{name: tf.constant(values, tf.string) for name, values in strings.items()}
        )

    assert serve([], [])["score"].shape == (0,)
    uncut = serve(LINES, LINES)["score"].numpy()
    assert abs(uncut[2] - expected[2]) > 1e-3, "what is given must matter"
    for line, text, score in zip(LINES, case.texts, expected, strict=True):
        np.testing.assert_allclose(serve([line], [text])["score"], [score], rtol=1e-4)
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{case.name} must be the text with"):
        serve(["a"], ["b"])
    for texts in ([], LEVELS[:1], LEVELS[:3]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            serve(LINES[:2], texts)
