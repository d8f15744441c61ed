"""A SavedModel gives what the decoder gives, in a process that knows nothing of us."""

import json
import logging
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import tensorflow as tf
from toy_run import make_toy_run

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.saved_model import export

OPTIONS = DecodeHParams(beam_size=3, extra_length=8)
LINES = [
    "the house is old",
    "",
    "dogs",
    " \t\u3000",
    "a cat sleeps in it while dogs run far away from here and it is old",
    "Ünknown 日本",
    "two\u2028  blanks \r\n",
]

CLIENT = """
    import json, sys
    sys.modules["t2t_phrase"] = None
    import tensorflow as tf
    import tensorflow_text
    # tensorflow_text imports Keras for itself; the model has no more use for it.
    for name in [name for name in sys.modules if name.split(".")[0] == "keras"]:
        sys.modules[name] = None
    folder, lines, pairs = json.load(sys.stdin)
    loaded = tf.saved_model.load(folder)

    def serve(signature, **inputs):
        function = loaded.signatures[signature]
        found = function(**{k: tf.constant(v, tf.string) for k, v in inputs.items()})
        return {
            name: [x.decode() if isinstance(x, bytes) else x for x in value.flatten().tolist()]
            for name, value in ((k, v.numpy()) for k, v in found.items())
        }

    sources, targets = zip(*pairs)
    results = {
        "best": serve("serving_default", text=lines),
        "nbest": serve("nbest", text=lines),
        "score": serve("score", source=sources, target=targets),
        "alone": [serve("serving_default", text=[line]) for line in lines[:3]],
        "none": serve("serving_default", text=[]),
    }
    print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def exported(toy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    return export(toy.model, toy.vocabularies, OPTIONS, folder, about={"step": 30})


@pytest.fixture(scope="module")
def served(toy, exported):
    """What a process with tensorflow and tensorflow_text alone gets."""
    pairs = list(zip(LINES, reversed(LINES), strict=True))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CLIENT)],
        input=json.dumps([str(exported), LINES, pairs]),
        capture_output=True,
        text=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_best_translation_is_the_decoders(toy, served):
    expected = [
        found[0] for found in Translator(toy.model, toy.vocabularies, OPTIONS).translate(LINES)
    ]
    assert served["best"]["translation"] == [h.text for h in expected]
    np.testing.assert_allclose(served["best"]["score"], [h.score for h in expected], rtol=1e-4)
    assert len({h.text for h in expected}) > 3
    # Empty lines, and nothing but blanks, give empty translations.
    assert [expected[i].text for i in (1, 3)] == ["", ""]


def test_all_beams_are_the_decoders(toy, served):
    translator = Translator(toy.model, toy.vocabularies, OPTIONS.replace(return_beams=True))
    found = served["nbest"]
    texts, scores = (np.reshape(found[name], (-1, 3)) for name in ("translations", "scores"))
    expected = translator.translate(LINES)
    assert found["counts"] == [len(beams) for beams in expected]
    for beams, row, row_scores in zip(expected, texts, scores, strict=True):
        assert row.tolist() == [h.text for h in beams] + [""] * (3 - len(beams))
        np.testing.assert_allclose(row_scores[: len(beams)], [h.score for h in beams], rtol=1e-4)
        assert (row_scores[len(beams) :] == -1e7).all()


def test_scores_are_the_decoders(toy, served):
    pairs = list(zip(LINES, reversed(LINES), strict=True))
    expected = Scorer(toy.model, toy.vocabularies).score(pairs)
    np.testing.assert_allclose(served["score"]["log_probability"], expected, rtol=1e-4)


def test_any_batch_gives_the_same(served):
    alone = [found["translation"][0] for found in served["alone"]]
    assert alone == served["best"]["translation"][:3]
    assert served["none"] == {"translation": [], "score": [], "cut": []}


def test_only_plain_operations_are_in_the_graphs(exported):
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    for logger in (logging.getLogger("absl"), tf.get_logger()):
        logger.addHandler(handler)
    loaded = tf.saved_model.load(str(exported))
    for logger in (logging.getLogger("absl"), tf.get_logger()):
        logger.removeHandler(handler)
    # Such as that gradients, which nobody asks for, are missing.
    assert not [record.getMessage() for record in records if record.levelno >= logging.WARNING]
    names = {"serving_default", "nbest", "score"}
    names |= {"translate_with_dictionary", "translate_with_constraints"}
    assert set(loaded.signatures) == names
    for signature in loaded.signatures.values():
        graph = signature.graph.as_graph_def()
        operations = {node.op for node in graph.node}
        for function in graph.library.function:
            operations |= {node.op for node in function.node_def}
        assert not [name for name in operations if name.startswith("Xla") or "PyFunc" in name]
        batch = {tensor.shape[0] for tensor in signature.inputs if tensor.dtype == tf.string}
        assert batch == {None}


def test_the_vocabulary_and_the_facts_lie_beside_the_graph(toy, exported):
    assert (exported / "assets" / "vocabulary.model").read_bytes() == toy.encoder.model_bytes
    about = json.loads((exported / "assets.extra" / "export.json").read_text())
    assert about["step"] == 30 and about["decode_hparams"] == OPTIONS.to_dict()


class TestVersions:
    @pytest.fixture
    def quick(self, monkeypatch):
        """Write a file where a graph would be: only the folders matter here."""

        def save(module, files, folder):
            (folder / "saved_model.pb").write_bytes(b"graph")

        monkeypatch.setattr("t2t_phrase.export.saved_model._save", save)

    def run(self, toy, folder, **options):
        hparams = OPTIONS.replace(**options)
        return export(toy.model, toy.vocabularies, hparams, folder)

    def test_the_next_number_after_the_greatest(self, toy, quick, tmp_path):
        folder = tmp_path / "new" / "folder"
        assert self.run(toy, folder).name == "1"
        assert self.run(toy, folder).name == "2"
        (folder / "1700000000").mkdir()
        (folder / "notes").mkdir()
        version = self.run(toy, folder)
        assert version.name == "1700000001"
        assert version.stat().st_mode & 0o777 == 0o755

    def test_a_failure_leaves_no_version(self, toy, monkeypatch, tmp_path):
        def fail(module, files, folder):
            (folder / "saved_model.pb").write_bytes(b"half")
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("t2t_phrase.export.saved_model._save", fail)
        with pytest.raises(UserError, match=r"no space left while writing"):
            self.run(toy, tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_mistakes(self, toy, quick, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(UserError, match=r"cannot write .*file"):
            self.run(toy, tmp_path / "file")
        with pytest.raises(UserError, match=r"sampling_temp=0.5: a served model always answers"):
            self.run(toy, tmp_path, sampling_temp=0.5)
        with pytest.raises(UserError, match=r"write_alignments=true: a served model returns al"):
            self.run(toy, tmp_path, write_alignments=True)
        with pytest.raises(UserError, match=r"replace_unknown=true: the target vocabulary c"):
            self.run(toy, tmp_path, replace_unknown=True)
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    @pytest.mark.slow
    def test_another_backend_is_refused(self, toy, monkeypatch, tmp_path):
        monkeypatch.setattr("keras.backend.backend", lambda: "jax")
        with pytest.raises(UserError, match="KERAS_BACKEND=jax: only models on TensorFlow"):
            self.run(toy, tmp_path)
