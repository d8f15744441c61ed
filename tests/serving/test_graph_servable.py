"""SavedModels of toys; those of trained models are tested in `tests/bin/test_serve.py`."""

import shutil

import pytest
import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.serving.errors import RequestError
from t2t_phrase.serving.graph_servable import servable_of_saved_model
from t2t_phrase.serving.servable import Output
from t2t_phrase.serving.versions import WatchedVersions
from t2t_phrase.text.annotations.word_numbers import WordNumbers
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords


class Upper(tf.Module):
    def __init__(self, score, vocabulary=None):
        super().__init__()
        self.score = tf.Variable(score)
        if vocabulary is not None:
            self.vocabulary = tf.saved_model.Asset(str(vocabulary))

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="text")])
    def translate(self, text):
        scores = tf.fill([tf.size(text), 2], self.score.read_value())
        return {"translation": tf.strings.upper(text), "scores": scores}

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.int32, name="ids")])
    def other(self, ids):
        return {"ids": ids}


class Numbered(tf.Module):
    """Reads a feature that has an integer for each word."""

    @tf.function(
        input_signature=[tf.TensorSpec((None,), tf.string, name=n) for n in ("text", "cases")]
    )
    def translate(self, text, cases):
        starts = tf.RaggedTensor.from_tensor(tf.zeros([tf.size(text), 1], tf.int32))
        return {"numbers": WordNumbers().encode_in_graph(text, starts, cases).to_tensor()}


def save(folder, module, function="translate"):
    tf.saved_model.save(
        module, str(folder), signatures={"serving_default": getattr(module, function)}
    )


def test_a_saved_model_is_served(tmp_path):
    (tmp_path / "target.model").write_bytes(train_subwords(["a house is old"] * 9, vocab_size=280))
    save(tmp_path / "7", Upper(0.1, tmp_path / "target.model"))
    servable = servable_of_saved_model(tmp_path / "7")
    signature = servable.signature("serving_default")
    assert servable.version == 7 and signature.inputs == ("text",)
    assert signature.outputs == {
        "translation": Output("DT_STRING", (-1,)),
        "scores": Output("DT_FLOAT", (-1, 2)),
    }
    # The shortest digits of a float32, as TensorFlow Serving writes them.
    assert signature.run([[b"ab\xff", b""]]) == {
        "translation": [b"AB\xff", b""],
        "scores": [[0.1, 0.1], [0.1, 0.1]],
    }
    encoder = SubwordEncoder((tmp_path / "target.model").read_bytes())
    expected = len(encoder.encode("a house")) + len(encoder.encode("\ufffd")) + 2
    assert servable.count_tokens([b"a house", b"\xff"]) == expected


def test_a_model_that_reads_numbers_of_words_is_served(tmp_path):
    save(tmp_path / "1", Numbered())
    signature = servable_of_saved_model(tmp_path / "1").signature("serving_default")
    given = {"text": [b"a house"], "cases": [b"7 8"]}
    assert signature.run([given[name] for name in signature.inputs]) == {"numbers": [[7]]}
    given["cases"] = [b"7"]
    with pytest.raises(RequestError, match=r"^there must be one integer for each word") as caught:
        signature.run([given[name] for name in signature.inputs])
    assert caught.value.status == 400


def test_damaged_versions_are_not_served(tmp_path, capsys):
    save(tmp_path / "1", Upper(1.0))
    versions = WatchedVersions(tmp_path, servable_of_saved_model)
    saved = sorted(path for path in (tmp_path / "1").rglob("*") if path.is_file())
    files = [path.relative_to(tmp_path / "1") for path in saved if path.stat().st_size > 200]
    assert len(files) >= 2
    for number, path in enumerate(files, start=2):
        shutil.copytree(tmp_path / "1", tmp_path / str(number))
        damaged = tmp_path / str(number) / path
        damaged.write_bytes(damaged.read_bytes()[:-100])
        versions.look()
        assert versions.current.version == 1
        assert f"version {number} cannot be loaded; version 1 stays" in capsys.readouterr().err
    (tmp_path / "90").mkdir()
    versions.look()
    assert f"{tmp_path / '90'} is not a complete SavedModel" in capsys.readouterr().err
    save(tmp_path / "91", Upper(2.0))
    versions.look()
    found = versions.current.signature("serving_default").run([[b"a"]])
    assert found["scores"] == [[2.0, 2.0]]


def test_other_models_are_refused(tmp_path):
    save(tmp_path / "1", Upper(1.0), "other")
    with pytest.raises(UserError, match="the input ids of serving_default is not a list of str"):
        servable_of_saved_model(tmp_path / "1")
