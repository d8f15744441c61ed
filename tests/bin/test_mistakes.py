"""Typing mistakes in the flags of every command: one sentence, exit code 2, nothing else."""

import pathlib
import re

import pytest
from in_process import exit_code

from t2t_phrase import __version__
from t2t_phrase.bin.flag_parsing import HELP

SETUP = pathlib.Path(__file__).parents[2] / "setup.py"
COMMANDS = re.findall(r'^    "(\w+)",$', SETUP.read_text(), flags=re.M)

# A flag of each command that has no --output_dir.
FLAGS = {
    "align": "source",
    "cluster": "hosts",
    "datagen": "data_dir",
    "demo": "work_dir",
    "dictionary": "reference",
    "eval": "translation",
    "parameters": "vocab_size",
    "parse": "input_file",
    "probe": "output_dir",
}
# Command, arguments, the error without "error: " and without the hint at --help.
MISTAKES = [
    ("eval", "--translatoin=x", "--translatoin is unknown; did you mean --translation?"),
    ("eval", "--decode-to-file=x", "--decode-to-file is unknown"),
    ("eval", "--bleu_variant=cased", "--bleu_variant is unknown; use --lowercase, for BLEU"),
    ("decoder", "--keep_checkpoint_every_n_hours=4", "--keep_checkpoint_every_n_hours is unknown"),
    ("trainer", "--hp_num_heads=4", "--hp_num_heads is unknown; use --hparams=num_heads=..."),
    ("eval", "--translation", "--translation lacks its value; write --translation=VALUE"),
    (
        "eval",
        "--translation --reference=x",
        "--translation lacks its value; '--reference=x' follows; write --translation=VALUE",
    ),
    ("eval", "--lowercase=maybe", "--lowercase=maybe: expected true or false"),
    ("eval", "--nolowercase=1", "--nolowercase=1 does not take an argument"),
    ("eval", "--notranslation", "--notranslation is unknown; did you mean --translation?"),
    ("eval", "x y", "unexpected argument 'x'; flags are written --name=value"),
    ("eval", "--translation=x y", "unexpected argument 'y'; flags are written --name=value"),
    ("eval", "--lowercase true", "unexpected argument 'true'; flags are written --name=value"),
    ("eval", "--", "--translation and --reference (or --facts) are required"),
    ("eval", '--metrics="bleu', '--metrics="bleu: expected a list separated by commas'),
    (
        "eval",
        "--flagfile=/nosuch",
        "--flagfile cannot be read: [Errno 2] No such file or directory: '/nosuch'",
    ),
    ("eval", "--ngrams=0", "--ngrams=0: expected an integer in the range [1, 32]"),
    ("trainer", "--train_steps=1e3", "--train_steps=1e3: expected a positive integer"),
    ("trainer", "--train_steps=", "--train_steps=: expected a positive integer"),
    ("trainer", "--train_steps 0", "--train_steps=0: expected a positive integer"),
    (
        "trainer",
        "--random_seed=99999999999",
        "--random_seed=99999999999: expected an integer in the range [0, 4294967295]",
    ),
    (
        "trainer",
        f"--keep_checkpoint_max={'9' * 5000}",
        f"--keep_checkpoint_max={'9' * 80}...: expected a positive integer",
    ),
    ("trainer", "--save_checkpoints_secs=nan", "--save_checkpoints_secs=nan: expected a non-neg"),
    ("trainer", "--save_checkpoints_secs=soon", "--save_checkpoints_secs=soon: expected a non-neg"),
    (
        "trainer",
        "--schedule=evalute",
        "--schedule=evalute: expected one of continuous_train_and_eval, train_and_evaluate, train, "
        "evaluate; did you mean evaluate",
    ),
    ("datagen", "--vocab_type=word", "--vocab_type=word: expected one of subwords, unigram, words"),
    ("demo", "--train_step=1", "--train_step is unknown; did you mean --train_steps?"),
    ("contrast", "--sentences=-1", "--sentences=-1: expected an integer in the range [1, 100000]"),
]


@pytest.mark.parametrize(("command", "arguments", "expected"), MISTAKES)
def test_mistake(command, arguments, expected, capsys, monkeypatch):
    assert exit_code(command, arguments.split(), monkeypatch) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {expected}")
    assert printed.err.endswith(f"{HELP}\n") and printed.err.count("\n") == 1


# Flags whose absence means something else, so that an empty name must not pass for it.
FILES = {
    "align": ["lexicon_file"],
    "compare": ["contrastive"],
    "datagen": ["tmp_dir", "vocab_file", "vocab_from"],
    "eval": ["contrasts"],
    "import": ["vocab_file", "target_vocab_file"],
    "insights": ["heat_maps", "compare_output_dir", "alignment_model_dir"],
    "parse": ["output_file", "trees_file"],
    "probe": ["trees_file", "text_file", "json_to_file"],
    "trainer": ["hparams_file", "warm_start_from"],
}


@pytest.mark.parametrize(
    ("command", "flag"), [(command, flag) for command, flags in FILES.items() for flag in flags]
)
def test_a_flag_without_its_file_is_not_ignored(command, flag, capsys, monkeypatch):
    assert exit_code(command, [f"--{flag}="], monkeypatch) == 2
    error = capsys.readouterr().err
    assert error == f"error: --{flag}= names no file; leave the flag out, or give one {HELP}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_names_an_unknown_flag(command, capsys, monkeypatch):
    assert exit_code(command, ["--zzzz=1"], monkeypatch) == 2
    assert capsys.readouterr().err == f"error: --zzzz is unknown {HELP}\n"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["-h", "--help", "--helpfull"])
def test_help_is_no_mistake(command, flag, capsys, monkeypatch):
    assert exit_code(command, [flag], monkeypatch) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"t2t-phrase-{command}: ")
    assert f"--{FLAGS.get(command, 'output_dir')}:" in printed.out
    assert printed.err == ""
    if flag != "--helpfull":
        assert "repeat this option" not in printed.out  # absl's own sentence
        assert not re.search(r"\S {2,}--", printed.out), "a command lacks its line break"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_tells_its_version(command, capsys, monkeypatch):
    assert exit_code(command, ["--version"], monkeypatch) == 0
    assert capsys.readouterr().out == f"t2t-phrase-{command} {__version__}\n"


def test_a_flag_with_two_values_is_refused(capsys, monkeypatch):
    assert exit_code("eval", ["--translation=a", "--translation", "b"], monkeypatch) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: --translation is given twice: a and b; leave one out")
    assert exit_code("eval", ["--translation=a", "--translation=a"], monkeypatch) == 2
    assert "--translation and --reference" in capsys.readouterr().err
    assert exit_code("eval", ["--lowercase", "--nolowercase"], monkeypatch) == 2
    assert "--lowercase is given twice: true and false" in capsys.readouterr().err


def test_values_that_begin_like_flags_are_not_taken_for_one(capsys, monkeypatch):
    assert exit_code("eval", ["--translation", "-", "--reference", "-"], monkeypatch) == 2
    assert capsys.readouterr().err.endswith("error: cannot read -: No such file or directory\n")


def test_flags_that_may_be_repeated_are_not_told(capsys, monkeypatch):
    arguments = ["--translation=/nosuch", "--reference=a", "--reference=b"]
    assert exit_code("eval", arguments, monkeypatch) == 2
    assert capsys.readouterr().err == "error: cannot read /nosuch: No such file or directory\n"
