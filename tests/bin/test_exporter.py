import json
import pathlib

import pytest
import tensorflow as tf
from absl import app
from toy_run import call, make_toy_run

from t2t_phrase.bin import exporter
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.vocabularies import Vocabularies


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.mark.slow
def test_strings_in_strings_out(toy, capsys):
    options = "beam_size=2,extra_length=5"
    call(exporter, *toy.flags, f"--decode_hparams={options}")
    folder = toy.output_dir / "export" / "1"
    assert capsys.readouterr().out == f"exported to {folder}\n"
    found = tf.saved_model.load(str(folder)).signatures["serving_default"](
        text=tf.constant(toy.lines[:3])
    )
    translator = Translator(toy.model, toy.vocabularies, DecodeHParams().override(options))
    expected = [beams[0].text for beams in translator.translate(toy.lines[:3])]
    assert [text.decode() for text in found["translation"].numpy()] == expected
    about = json.loads((folder / "assets.extra" / "export.json").read_text())
    assert about["checkpoint"].endswith("run/model.ckpt-30") and about["step"] == 30
    assert (about["problem"], about["hparams_set"]) == ("translate_toy", "transformer_tiny")
    assert about["decode_hparams"]["beam_size"] == 2


@pytest.fixture
def quick(monkeypatch):
    """Do not write the graph."""

    def save(module, model_bytes, folder):
        pathlib.Path(folder, "saved_model.pb").write_bytes(b"")

    monkeypatch.setattr("t2t_phrase.export.saved_model._save", save)


def test_another_folder_and_the_best_checkpoint(toy, quick, tmp_path, capsys):
    call(exporter, *toy.flags, f"--export_dir={tmp_path}", "--checkpoint_path=best")
    assert capsys.readouterr().out == f"exported to {tmp_path / '1'}\n"
    about = json.loads((tmp_path / "1" / "assets.extra" / "export.json").read_text())
    assert about["checkpoint"].endswith("best/model.ckpt-20") and about["step"] == 20


def test_an_ensemble_says_what_it_is_made_of(toy, quick, tmp_path, capsys):
    folders = f"--output_dir={toy.output_dir},{toy.output_dir}/best"
    given = [folders, *toy.flags[1:], "--ensemble_weights=2,1"]
    call(exporter, *given, f"--export_dir={tmp_path}")
    about = json.loads((tmp_path / "1" / "assets.extra" / "export.json").read_text())
    assert [member["step"] for member in about["ensemble"]] == [30, 20]
    assert about["ensemble_weights"] == [2.0, 1.0] and "checkpoint" not in about
    with pytest.raises(UserError, match="--export_dir is required for an ensemble"):
        call(exporter, *given)


@pytest.mark.parametrize(
    "flag", ["export_dir", "lexicon_file", "unknown_dictionary", "alignment_model_dir"]
)
def test_empty_names_of_files_are_refused(flag):
    with pytest.raises(app.UsageError, match=f"--{flag}= names no file; leave the flag out"):
        call(exporter, "--output_dir=nowhere", f"--{flag}=")


def test_mistakes(toy, quick, monkeypatch, tmp_path):
    with pytest.raises(UserError, match="--export_dir is required if --output_dir is not given"):
        call(exporter, f"--checkpoint_path={toy.output_dir}/model.ckpt-30")
    with pytest.raises(app.UsageError, match=r"--output_dir \(or the --checkpoint_path .* needed"):
        call(exporter)
    with pytest.raises(UserError, match=r"sampling_temp=1\.0: a served model always answers"):
        call(exporter, *toy.flags, f"--export_dir={tmp_path}", "--decode_hparams=sampling_temp=1")
    for option in ("return_beams=true", "write_scores=true,return_beams=false"):
        field = option.partition("=")[0]
        with pytest.raises(UserError, match=f"^{field}=true: a served model returns all hyp"):
            call(exporter, *toy.flags, f"--export_dir={tmp_path}", f"--decode_hparams={option}")
    with pytest.raises(UserError, match=r"^batch_size=7: the server decides .*=max_batch_size"):
        call(exporter, *toy.flags, f"--export_dir={tmp_path}", "--decode_hparams=batch_size=7")
    pieces = ["<pad>", "<EOS>", *"\\_u;0123456789"]
    monkeypatch.setattr(
        "t2t_phrase.runs.vocabulary.run_vocabularies",
        lambda *a, **k: Vocabularies(*2 * [T2TSubwords(pieces)]),
    )
    with pytest.raises(UserError, match="with tensor2tensor's own subwords cannot be exported"):
        call(exporter, *toy.flags, f"--export_dir={tmp_path}")
    assert list(tmp_path.iterdir()) == []
