import io
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from absl import app
from toy_run import call, make_toy_run

from t2t_phrase.bin import decoder
from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.io.reporting import Ticker
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.load_model import load_model

OPTIONS = "beam_size=2,extra_length=8"
LINES = ["the house is old", "", "dogs run", "  ", "a cat sleeps in it while dogs run", "Ünknown"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="module")
def expected(toy):
    translator = Translator(toy.model, toy.vocabularies, DecodeHParams().override(OPTIONS))
    return [found[0].text for found in translator.translate(LINES)]


def decode(toy, *arguments, options=OPTIONS):
    call(decoder, *toy.flags, f"--decode_hparams={options}", *arguments)


def test_a_file_is_translated_line_by_line(toy, expected, tmp_path, capsys):
    source, target = tmp_path / "in.en", tmp_path / "out.de"
    # Windows line ends and a byte order mark are no part of the text.
    source.write_bytes(b"\xef\xbb\xbf" + "".join(f"{line}\r\n" for line in LINES).encode())
    decode(toy, f"--decode_from_file={source}", f"--decode_to_file={target}")
    assert target.read_text(encoding="utf-8").split("\n") == [*expected, ""]
    assert len(set(expected)) > 3 and expected[1] == expected[3] == ""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "model.ckpt-30 (step 30): transformer_tiny" in captured.err
    assert "6 sentences, " in captured.err and f"written to {target}" in captured.err
    assert "batch shapes compiled: 1)" in captured.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.en", "out.de"]


@pytest.mark.slow
def test_the_model_may_compute_in_another_type(toy, tmp_path, monkeypatch):
    (tmp_path / "in").write_text("\n".join(LINES) + "\n")
    used = []
    make = Translator.__init__

    def recorded(translator, model, *args, **kwargs):
        used.append(model.compute_dtype)
        make(translator, model, *args, **kwargs)

    monkeypatch.setattr(Translator, "__init__", recorded)
    files = [f"--decode_from_file={tmp_path / 'in'}", f"--decode_to_file={tmp_path / 'out'}"]
    decode(toy, *files, "--dtype_policy=mixed_bfloat16")
    assert set(used) == {"bfloat16"}
    model = load_model(toy.output_dir, dtype_policy="mixed_bfloat16").model
    twin = Translator(model, toy.vocabularies, DecodeHParams().override(OPTIONS))
    expected = [found[0].text for found in twin.translate(LINES)]
    assert (tmp_path / "out").read_text(encoding="utf-8").split("\n") == [*expected, ""]


def test_standard_input_goes_to_standard_output(toy, expected):
    """The real command: results alone on stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "t2t_phrase.bin.decoder", f"--decode_hparams={OPTIONS}", *toy.flags],
        input="".join(f"{line}\n" for line in LINES).encode(),
        capture_output=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().split("\n") == [*expected, ""]


def test_without_a_target_the_file_gets_tensor2tensors_name(toy, expected, tmp_path):
    source = tmp_path / "in.en"
    source.write_text(LINES[0] + "\n")
    decode(toy, f"--decode_from_file={source}")
    name = "in.en.transformer.transformer_tiny.translate_toy.beam2.alpha0.6.decodes"
    assert (tmp_path / name).read_text() == expected[0] + "\n"


def test_an_empty_file_gives_an_empty_file(toy, tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("")
    decode(toy, f"--decode_from_file={source}", f"--decode_to_file={target}")
    assert target.read_bytes() == b""


def test_beams_and_scores(toy, tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("".join(f"{line}\n" for line in LINES))
    options = f"{OPTIONS},return_beams=true,write_scores=true"
    decode(toy, f"--decode_from_file={source}", f"--decode_to_file={target}", options=options)
    translator = Translator(toy.model, toy.vocabularies, DecodeHParams().override(options))
    lines = target.read_text(encoding="utf-8").rstrip("\n").split("\n")
    for line, found in zip(lines, translator.translate(LINES), strict=True):
        fields = line.split("\t")
        assert fields[::2] == [h.text for h in found]
        np.testing.assert_allclose(
            [float(f) for f in fields[1::2]], [h.score for h in found], atol=1e-3
        )


def test_best_and_named_checkpoints(toy, expected, tmp_path, capsys):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("".join(f"{line}\n" for line in LINES))
    files = [f"--decode_from_file={source}", f"--decode_to_file={target}"]
    decode(toy, *files, "--checkpoint_path=best")
    assert "best/model.ckpt-20 (step 20)" in capsys.readouterr().err
    assert target.read_text(encoding="utf-8").split("\n")[:-1] != expected
    decode(toy, *files, f"--checkpoint_path={toy.output_dir}/model.ckpt-30")
    assert target.read_text(encoding="utf-8").split("\n")[:-1] == expected


@pytest.mark.slow
def test_a_folder_whose_name_has_a_comma_is_one_run(toy, expected, tmp_path):
    folder = tmp_path / "a,b"
    shutil.copytree(toy.output_dir, folder)
    (tmp_path / "in").write_text(f"{LINES[0]}\n")
    files = [f"--decode_from_file={tmp_path / 'in'}", f"--decode_to_file={tmp_path / 'out'}"]
    for flag in (f"--output_dir={folder}", f"--checkpoint_path={folder}/model.ckpt-30"):
        call(decoder, flag, *toy.flags[1:], f"--decode_hparams={OPTIONS}", *files)
        assert (tmp_path / "out").read_text() == f"{expected[0]}\n"


def test_long_inputs_are_named(toy, tmp_path, capsys):
    source = tmp_path / "in"
    source.write_text(f"a cat\n{'house ' * 60}\n\n{'dogs ' * 70}\n")
    target = f"--decode_to_file={tmp_path / 'out'}"
    decode(toy, f"--decode_from_file={source}", target)
    error = capsys.readouterr().err
    assert "2 of 4 inputs are longer than the 40 tokens (max_length)" in error
    assert "lines 2, 4\n" in error
    decode(toy, f"--decode_from_file={source}", target, options=f"{OPTIONS},max_input_size=20")
    error = capsys.readouterr().err
    for line, word in ((2, "house " * 60), (4, "dogs " * 70)):
        tokens = len(toy.encoder.encode(word)) + 1
        assert f"line {line}: {tokens} tokens, cut to 20 (max_input_size)\n" in error
    assert "longer than the 40" not in error
    assert len((tmp_path / "out").read_text().split("\n")) == 5


def test_pairs_are_scored_in_order(toy, tmp_path, capsys):
    pairs = [("the house", "dogs run"), ("a cat", ""), ("", "it is"), ("dogs run far", "here")]
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{source}\t{target}\n" for source, target in pairs))
    decode(toy, f"--score_file={file}")
    printed = capsys.readouterr().out
    found = [float(line) for line in printed.split("\n")[:-1]]
    np.testing.assert_allclose(
        found, [-s for s in Scorer(toy.model, toy.vocabularies).score(pairs)], atol=1e-4
    )
    assert min(found) > 0
    decode(toy, f"--score_file={file}", f"--decode_to_file={tmp_path / 'scores'}")
    assert (tmp_path / "scores").read_text() == printed

    file.write_text("a\tb\nno tab\n")
    with pytest.raises(
        UserError, match=r"pairs.tsv:2: 0 tabs; each line must be source<TAB>target"
    ):
        decode(toy, f"--score_file={file}")


def test_a_conversation(toy, expected, monkeypatch, capsys):
    typed = f"\udcff\n{LINES[0]}\nreturn_beams=true\n{LINES[0]}\nbeam_size=none\n"
    refused = ("shortlist_best=5", "alignment_layers=[1]", "alignment_threshold=0.5")
    refused += ("token_probabilities=true",)
    typed += "".join(f"{option}\n" for option in refused) + "?\nq\nnever read\n"
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(typed.encode(errors="surrogateescape")))
    )
    decode(toy, "--decode_interactive")
    captured = capsys.readouterr()
    invalid, first, changed, *beams = captured.out.split("\n")
    assert invalid == "error: this is not valid UTF-8; type it again"
    assert first == expected[0] and changed == "changed: return_beams=true"
    assert beams[0] == expected[0] and not beams[1].startswith("error")
    assert "error: DecodeHParams: beam_size: expected int, got 'none'" in captured.out
    for option in refused:
        assert f"error: {option}: " in captured.out
    assert "return_beams=True" in captured.out and "never" not in captured.out
    assert "q to quit" in captured.err and "> " in captured.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--decode_to_file=x"], "--decode_to_file cannot be used with --decode_interactive"),
        (["--feature_files=phrases=x"], "--feature_files cannot be used with"),
        (["--decode_hparams=shortlist_best=5"], "shortlist_best=5: only used with --lexicon_file"),
        (["--decode_hparams=token_probabilities=true"], "is only written with --n_best_format"),
        (["--decode_hparams=search=beam_serch"], "search 'beam_serch' is unknown; did you mean"),
        (
            ["--decode_hparams=alignment_layers=[9]"],
            r"alignment_layers=\[9\]: is only used with write_alignments=true",
        ),
    ],
)
def test_a_conversation_refuses_what_it_does_not_read(toy, arguments, message, monkeypatch):
    monkeypatch.setattr(checkpoints, "restore", lambda *_, **__: pytest.fail("loaded"))
    with pytest.raises((app.UsageError, UserError), match=message):
        call(decoder, *toy.flags, "--decode_interactive", *arguments)


@pytest.mark.parametrize(
    "flag",
    [
        *("decode_from_file", "dictionary", "prefix_file", "lexicon_file", "feature_files"),
        *("alignment_model_dir", "checkpoint_path"),
    ],
)
def test_empty_names_of_files_are_refused(toy, flag, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(app.UsageError, match=f"--{flag}= names no file; leave the flag out"):
        decode(toy, f"--{flag}=")


def test_empty_names_of_features_are_refused(toy):
    with pytest.raises(UserError, match="--feature_files=phrases=: give the name of a file"):
        decode(toy, "--feature_files=phrases=")


@pytest.mark.parametrize("task", ["decode_from_file", "score_file"])
def test_a_seed_without_samples_is_refused(toy, task):
    with pytest.raises(UserError, match="random_seed: is only used with sampling_temp above 0"):
        decode(toy, f"--{task}=in", "--random_seed=3")


def test_two_seeds_are_refused(toy):
    with pytest.raises(app.UsageError, match=r"--random_seed=3 contradicts random_seed=5 in --dec"):
        decode(toy, "--random_seed=3", options="sampling_temp=1,random_seed=5")


def test_invalid_text_is_named_and_nothing_is_written(toy, tmp_path, monkeypatch):
    source = tmp_path / "in"
    source.write_bytes(b"good\nb\xffd\n")
    with pytest.raises(UserError, match=r"/in:2: the line is not valid UTF-8"):
        decode(toy, f"--decode_from_file={source}", f"--decode_to_file={tmp_path / 'out'}")
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(UserError, match="standard input:1: "):
        decode(toy)


def test_no_output_is_an_input(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "restore", lambda *_, **__: pytest.fail("loaded"))
    source = tmp_path / "in"
    source.write_text("a\tb\n")
    os.link(source, tmp_path / "hard")
    (tmp_path / "soft").symlink_to(source)
    os.link(source, tmp_path / "out.part")
    for name in ("in", "./in", "hard", "soft", "out"):
        target = f"--decode_to_file={tmp_path}/{name}"
        for flag in ("decode_from_file", "score_file"):
            with pytest.raises(UserError, match=r"would overwrite the input .*/in; give another"):
                decode(toy, f"--{flag}={source}", target)
        with pytest.raises(UserError, match=r"would overwrite the input .*/in; give another"):
            decode(
                toy, f"--decode_from_file={__file__}", f"--feature_files=phrases={source}", target
            )
    assert source.read_text() == "a\tb\n"


@pytest.mark.slow
def test_special_files_are_written_to(toy, expected, tmp_path):
    source, pipe, link = tmp_path / "in", tmp_path / "pipe", tmp_path / "null"
    source.write_text("".join(f"{line}\n" for line in LINES))
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    decode(toy, f"--decode_from_file={source}", f"--decode_to_file={link}")
    assert link.is_symlink() and not os.path.isfile("/dev/null")
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    decode(toy, f"--decode_from_file={source}", f"--decode_to_file={pipe}")
    reader.join()
    assert read[0].split("\n")[:-1] == expected and pipe.is_fifo()
    with pytest.raises(
        UserError, match="no space left while writing /dev/full, which is incomplete"
    ):
        decode(toy, f"--decode_from_file={source}", "--decode_to_file=/dev/full")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "null", "pipe"]


def test_mistakes_are_found_before_the_model_is_loaded(toy, tmp_path, monkeypatch):
    def loaded(*args, **kwargs):
        raise AssertionError("loaded")

    monkeypatch.setattr(checkpoints, "restore", loaded)
    source = f"--decode_from_file={tmp_path / 'in'}"
    with pytest.raises(UserError, match="cannot read"):
        decode(toy, source)
    (tmp_path / "in").write_text("a\n")
    with pytest.raises(UserError, match=r"cannot write .*/no/out"):
        decode(toy, source, f"--decode_to_file={tmp_path}/no/out")
    with pytest.raises(UserError, match="is a folder; give the name of a file"):
        decode(toy, source, f"--decode_to_file={tmp_path}")
    with pytest.raises(UserError, match=r"out\.gz: output is not compressed; .* without \.gz"):
        decode(toy, source, f"--decode_to_file={tmp_path}/out.gz")
    with pytest.raises(UserError, match="=true: is only written with --n_best_format=json"):
        decode(toy, source, options="token_probabilities=true")
    with pytest.raises(UserError, match="return_beams=true: cannot be used with --score_file"):
        decode(toy, f"--score_file={tmp_path}/in", options="return_beams=true")
    with pytest.raises(UserError, match=r"sampling_temp=1\.0: cannot be used with --score_file"):
        decode(toy, f"--score_file={tmp_path}/in", options="sampling_temp=1,num_samples=9,mbr=true")
    for option in (
        "coverage_penalty=0.2",
        "no_repeat_ngram_size=3",
        "shortlist_best=9",
        "quantize=int8",
    ):
        for others in ([], ["--alignment_model_dir=x"]):
            with pytest.raises(UserError, match=f"{option}: cannot be used with --score_file"):
                decode(toy, f"--score_file={tmp_path}/in", *others, options=option)
    with pytest.raises(UserError, match=r"alignment_weight=2\.0: is only used with --align"):
        decode(toy, f"--score_file={tmp_path}/in", options="alignment_weight=2")
    with pytest.raises(HParamsError, match="beam_sise: unknown; did you mean beam_size"):
        decode(toy, source, options="beam_sise=4")
    with pytest.raises(app.UsageError, match="--decode_from_file and --score_file exclude"):
        decode(toy, source, "--score_file=x")
    with pytest.raises(app.UsageError, match="--output_dir"):
        call(decoder, source)


def test_the_run_knows_what_it_is(toy, tmp_path):
    source = f"--decode_from_file={tmp_path / 'in'}"
    (tmp_path / "in").write_text("a\n")
    with pytest.raises(UserError, match=r"--problem=translate_other: .* is a run of translate_toy"):
        decode(toy, source, "--problem=translate_other")
    with pytest.raises(
        UserError, match=r"--hparams_set=transformer_big: .* run of transformer_tiny"
    ):
        decode(toy, source, "--hparams_set=transformer_big")
    with pytest.raises(UserError, match="--data_dir is needed: the vocabulary of translate_toy"):
        call(decoder, source, f"--output_dir={toy.output_dir}", f"--t2t_usr_dir={toy.user_dir}")


def test_another_vocabulary_is_refused(toy, tmp_path):
    from t2t_phrase.text.subwords.training import train_subwords

    (tmp_path / "in").write_text("a\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "toy.model").write_bytes(train_subwords(["zebra", "quagga"], vocab_size=270))
    arguments = [*toy.flags, f"--data_dir={other}", f"--decode_from_file={tmp_path / 'in'}"]
    with pytest.raises(UserError, match="not the one that the model was trained with"):
        call(decoder, *arguments)
    big = [chr(0x4E00 + i) for i in range(400)]
    (other / "toy.model").write_bytes(train_subwords(big, vocab_size=700))
    with pytest.raises(
        UserError, match=r"entries, the model only \d+: it was trained on different data"
    ):
        call(decoder, *arguments)


def test_progress_tells_the_time_left(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    for total in (5000, None):
        ticker = Ticker("translated", total)
        ticker.start(1000)
        for done, seconds in ((1001, 1), (1100, 10), (3000, 40), (4900, 11)):
            now[0] += seconds
            ticker(done)
    assert capsys.readouterr().err == (
        "translated 1100 of 5000 lines, about 7 min left\n"
        "translated 3000 of 5000 lines\n"
        "translated 4900 of 5000 lines\n"
        "translated 1100 lines\ntranslated 3000 lines\ntranslated 4900 lines\n"
    )


@pytest.mark.slow
def test_sampling_by_seed(toy, tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("the house is old\n" * 5)
    found = []
    for seed in (1, 2, 1):
        files = [f"--decode_from_file={source}", f"--decode_to_file={target}"]
        decode(toy, *files, f"--random_seed={seed}", options="sampling_temp=1.0,extra_length=6")
        found.append(target.read_text(encoding="utf-8"))
    assert found[0] == found[2] != found[1]
