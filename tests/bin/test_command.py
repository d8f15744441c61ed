"""t2t-phrase COMMAND, and python -m t2t_phrase COMMAND."""

import pathlib
import re
import subprocess
import sys

import pytest

from t2t_phrase.bin import COMMANDS, command

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["t2t-phrase", *arguments])
    with pytest.raises(SystemExit) as end:
        command.run()
    return end.value.code


def test_setup_installs_the_same_commands():
    text = (ROOT / "setup.py").read_text()
    names = re.search(r"COMMANDS = \((.*?)\)", text, re.DOTALL)[1]
    assert set(re.findall(r'"(\S+)"', names)) == set(COMMANDS)


def test_every_command_has_a_purpose(monkeypatch, capsys):
    assert run(monkeypatch, "--help") == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == list(COMMANDS)
    assert all(len(line.split()) > 3 for line in lines)


def test_an_unknown_command(monkeypatch, capsys):
    assert run(monkeypatch, "trainr") == 2
    assert "did you mean trainer?" in capsys.readouterr().err


def test_a_command_sees_its_own_arguments(tmp_path):
    (tmp_path / "a").write_text("the house is old\n")
    done = subprocess.run(
        [sys.executable, "-m", "t2t_phrase", "eval", "--translation=a", "--reference=a"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("BLEU = 100.00")
