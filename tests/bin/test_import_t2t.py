import json

import numpy as np
import pytest
from absl import app
from t2t_checkpoint import make_checkpoint
from toy_run import call, make_toy_run

from t2t_phrase import registry
from t2t_phrase.bin import decoder, import_t2t
from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.runs.load_model import load_model
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.vocabularies import Vocabularies

SIZES = "hidden_size=8,filter_size=12,num_heads=2,num_hidden_layers=2"
PIECES = ["<pad>", "<EOS>", "hou", "se_", "the_", "dog", "s_", *"thedogusaorn_\\;0123456789"]
PIECES = list(dict.fromkeys(PIECES))


@pytest.fixture
def theirs(tmp_path):
    """A tensor2tensor training folder with a checkpoint and its vocabulary."""
    folder = tmp_path / "t2t"
    folder.mkdir()
    checkpoint = make_checkpoint(vocab_size=len(PIECES), seed=3)
    checkpoint.theirs["transformer/body/odd/kernel"] = np.zeros(3, "float32")
    checkpoint.write(folder)
    (folder / "vocab").write_text("".join(f"'{piece}'\n" for piece in PIECES))
    return folder


def run(theirs, *arguments, sizes=SIZES):
    call(import_t2t, f"--checkpoint_path={theirs}", f"--hparams={sizes}", *arguments)


def test_an_imported_model_translates_text(theirs, tmp_path, capsys, monkeypatch):
    ours = tmp_path / "ours"
    # A shell leaves the ~ of --vocab_file=~/vocab as it is.
    monkeypatch.setenv("HOME", str(theirs))
    run(theirs, f"--output_dir={ours}", "--vocab_file=~/vocab")
    printed = capsys.readouterr().out.split("\n")
    assert f"variables imported, vocabulary of {len(PIECES)}" in printed[0]
    assert "not used: 1 variables of the optimizer and counters" in printed
    assert "not used: transformer/body/odd/kernel" in printed
    assert "num_heads=2: from the hparams, not in the checkpoint" in printed
    assert f"written to {ours}/model.ckpt-700" in printed

    lines = ["the dogs", "", "house, the house"]
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines))
    # Neither a problem nor a data folder: the run contains the vocabulary.
    call(
        decoder,
        f"--output_dir={ours}",
        "--decode_hparams=beam_size=2,extra_length=6",
        f"--decode_from_file={tmp_path / 'in'}",
        f"--decode_to_file={tmp_path / 'out'}",
    )
    registry.discover()
    translator = Translator(
        load_model(ours).model,
        Vocabularies(*2 * [T2TSubwords(PIECES)]),
        DecodeHParams(beam_size=2, extra_length=6),
    )
    expected = [found[0].text for found in translator.translate(lines)]
    assert (tmp_path / "out").read_text().split("\n") == [*expected, ""]
    assert expected[1] == "" and expected[2]


def test_a_model_of_one_of_our_problems(theirs, tmp_path):
    toy = make_toy_run(tmp_path / "toy")
    ours = tmp_path / "ours"
    ours_flags = [f"--output_dir={ours}", f"--t2t_usr_dir={toy.user_dir}"]
    run(theirs, *ours_flags, "--problem=translate_toy", f"--data_dir={toy.data_dir}")
    record = json.loads((ours / "hparams.json").read_text())
    assert record["problem"] == "translate_toy" and len(record["vocabulary"]) == 64
    assert record["t2t_usr_dir"] == str(toy.user_dir)
    # A wrong vocabulary is detected when it is used.
    (tmp_path / "in").write_text("a\n")
    with pytest.raises(UserError, match=rf"the model only {len(PIECES)}: it was trained on diff"):
        call(
            decoder,
            *ours_flags,
            f"--data_dir={toy.data_dir}",
            f"--decode_from_file={tmp_path / 'in'}",
        )


def test_a_model_without_any_vocabulary_asks_for_one(theirs, tmp_path):
    ours = f"--output_dir={tmp_path / 'ours'}"
    run(theirs, ours)
    (tmp_path / "in").write_text("a\n")
    with pytest.raises(UserError, match="does not say which problem it is for: give --problem"):
        call(decoder, ours, f"--decode_from_file={tmp_path / 'in'}")


def test_mistakes(theirs, tmp_path):
    ours = f"--output_dir={tmp_path / 'ours'}"
    with pytest.raises(UserError, match=r"hidden_size: 16 instead of 8; .*--hparams=hidden"):
        run(theirs, ours, sizes=SIZES.replace("=8", "=16"))
    with pytest.raises(HParamsError, match="hidden_sise: unknown; did you mean hidden_size"):
        run(theirs, ours, sizes="hidden_sise=8")
    with pytest.raises(UserError, match="hparams set 'transformer_bass' is unknown; did you mean"):
        run(theirs, ours, "--hparams_set=transformer_bass")
    with pytest.raises(UserError, match="problem 'translate_ende_wmt32k' is unknown"):
        run(theirs, ours, "--problem=translate_ende_wmt32k")
    with pytest.raises(UserError, match="--hparams_set=luong_base: only Transformers are imported"):
        run(theirs, ours, "--hparams_set=luong_base", sizes="")
    with pytest.raises(UserError, match="--vocab_file and --problem both name a vocabulary"):
        run(theirs, ours, "--vocab_file=x", "--problem=y")
    with pytest.raises(app.UsageError, match="--checkpoint_path and --output_dir are required"):
        run(theirs)
    assert not (tmp_path / "ours").exists()


@pytest.mark.slow
def test_two_vocabularies(tmp_path, capsys):
    theirs, ours = tmp_path / "t2t", tmp_path / "ours"
    theirs.mkdir()
    pieces = {"source": PIECES, "target": [*PIECES, "haus_", "hund_"]}
    make_checkpoint(
        shared=False, vocab_size=len(PIECES), target_vocab_size=len(pieces["target"]), seed=4
    ).write(theirs)
    for side, listed in pieces.items():
        (theirs / side).write_text("".join(f"'{piece}'\n" for piece in listed))
    sizes = f"{SIZES},shared_embedding_and_softmax_weights=false"
    flags = [f"--output_dir={ours}", f"--vocab_file={theirs}/source"]
    with pytest.raises(UserError, match=r"a vocabulary for each language: give .* and --target_v"):
        run(theirs, *flags, sizes=sizes)
    run(theirs, *flags, f"--target_vocab_file={theirs}/target", sizes=sizes)
    assert f"{len(PIECES)} and {len(pieces['target'])}" in capsys.readouterr().out
    lines = ["the dogs", "house"]
    (tmp_path / "in").write_text("".join(f"{line}\n" for line in lines))
    options = "beam_size=2,extra_length=6"
    call(
        decoder,
        f"--output_dir={ours}",
        f"--decode_hparams={options}",
        f"--decode_from_file={tmp_path / 'in'}",
        f"--decode_to_file={tmp_path / 'out'}",
    )
    vocabularies = Vocabularies(*map(T2TSubwords, pieces.values()))
    translator = Translator(load_model(ours).model, vocabularies, DecodeHParams().override(options))
    expected = [found[0].text for found in translator.translate(lines)]
    assert (tmp_path / "out").read_text().split("\n") == [*expected, ""]


def test_a_second_vocabulary_that_the_checkpoint_does_not_have(theirs, tmp_path):
    flags = [f"--vocab_file={theirs}/vocab", f"--target_vocab_file={theirs}/vocab"]
    with pytest.raises(UserError, match="one vocabulary for both languages: give --vocab_file al"):
        run(theirs, f"--output_dir={tmp_path / 'ours'}", *flags)
    with pytest.raises(UserError, match="--data_dir holds the vocabulary of a problem: also give"):
        run(theirs, f"--output_dir={tmp_path / 'ours'}", f"--data_dir={tmp_path}")
    with pytest.raises(UserError, match="--target_vocab_file is for the target only: also"):
        run(theirs, f"--output_dir={tmp_path / 'ours'}", flags[1])
