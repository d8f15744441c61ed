import pickle

import pytest
import tensorflow as tf

import t2t_phrase
from t2t_phrase.config import UserError
from tests.support.docstring_examples import example, run


class Upper(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="text")])
    def translate(self, text):
        # The graph tells by its answers that all sentences of a batch are of a kind.
        longest = tf.reduce_max(tf.strings.length(text))
        marks = tf.strings.join([tf.strings.upper(text), " ", tf.strings.as_string(longest)])
        return {"translation": marks, "cut": tf.strings.length(text) > 8999}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    for number in ("9", "10"):
        module = Upper()
        tf.saved_model.save(
            module, str(folder / number), signatures={"serving_default": module.translate}
        )
    return folder


def test_sentences_are_translated_in_batches_of_similar_length(folder, capsys):
    model = t2t_phrase.ExportedTranslator(folder)
    assert model.folder == folder / "10"
    texts = ["ab", "x" * 9000, "", "c" * 8999, "abc"]
    assert model.translate(texts) == [
        "AB 3",
        f"{'X' * 9000} 9000",
        " 3",
        f"{'C' * 8999} 8999",
        "ABC 3",
    ]
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("text")]
    assert said == ["text 2: longer than max_input_size of the export, so it was cut"]
    assert model.translate([]) == []
    assert model.translate(text for text in ["ab", "abc"]) == ["AB 3", "ABC 3"]


def test_the_example_runs(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    run(example(t2t_phrase.ExportedTranslator).replace('"exported"', f'"{folder.name}"'))


def test_a_copy_loads_the_version_again(folder):
    model = t2t_phrase.ExportedTranslator(folder / "9")
    expected = model.translate(["a", "b"])
    pickled = pickle.dumps(model)
    assert len(pickled) < 1000
    copy = pickle.loads(pickled)
    assert copy.folder == folder / "9" and copy.translate(["a", "b"]) == expected


def test_mistakes(folder, tmp_path):
    with pytest.raises(UserError, match="holds no exported version"):
        t2t_phrase.ExportedTranslator(tmp_path)
    model = t2t_phrase.ExportedTranslator(folder)
    with pytest.raises(UserError, match="10 reads text; got text, phrases"):
        model.translate(["a"], features={"phrases": ["a"]})
    with pytest.raises(UserError, match=r"text: expected a list .*; write \['ab'\]"):
        model.translate("ab")
    with pytest.raises(UserError, match=r"text 2: \\ud800 alone is only half of a character"):
        model.translate(["a", "b \ud800"])
    (tmp_path / "1").mkdir()
    (tmp_path / "1/saved_model.pb").write_bytes(b"nothing")
    with pytest.raises(UserError, match="1 is not a complete SavedModel"):
        t2t_phrase.ExportedTranslator(tmp_path / "1").translate(["a"])


class Joined(tf.Module):
    @tf.function(
        input_signature=[tf.TensorSpec((None,), tf.string, name=n) for n in ("text", "phrases")]
    )
    def translate(self, text, phrases):
        fits = tf.debugging.assert_equal(
            tf.strings.length(text), tf.strings.length(phrases), message="phrases must be as long"
        )
        with tf.control_dependencies([fits]):
            joined = tf.strings.join([text, phrases], separator=" ")
        return {"translation": joined, "cut": text == ""}


def test_each_sentence_has_its_features(tmp_path):
    module = Joined()
    signatures = {"serving_default": module.translate}
    tf.saved_model.save(module, str(tmp_path / "1"), signatures=signatures)
    model = t2t_phrase.ExportedTranslator(tmp_path)
    assert model.translate(["a", "b"], features={"phrases": ["x", "y"]}) == ["a x", "b y"]
    for texts in (["x"], ["x", "y", "z"]):
        with pytest.raises(UserError, match=rf"phrases: {len(texts)} texts for 2 sentences"):
            model.translate(["a", "b"], features={"phrases": texts})
    with pytest.raises(UserError, match=r"^text 2: phrases must be as long$"):
        model.translate(["a", "b"], features={"phrases": ["x", "yy"]})
