"""`wmt_size.py`, with commands that are not run."""

import argparse
import json
import sys

import pytest
import wmt_size
from watched import Watched


def test_parts_begin_with_archives_which_are_written_once(monkeypatch, tmp_path, capsys):
    for parts, said in (
        ("datagen", "raw does not exist; begin with archives"),
        ("archives,datagen", "raw exists; delete it, or leave out archives"),
    ):
        monkeypatch.setattr(sys, "argv", ["x", f"--folder={tmp_path}", f"--parts={parts}"])
        with pytest.raises(SystemExit):
            wmt_size.main()
        assert said in capsys.readouterr().err
        (tmp_path / "raw").mkdir(exist_ok=True)


def test_a_training_begins_anew_in_a_folder_with_an_earlier_one(monkeypatch, tmp_path, capsys):
    (tmp_path / "run").mkdir()
    (tmp_path / "translated.fr").touch()
    there = []

    def watch(command, folder):
        there.append((folder / "run").exists() or (folder / "translated.fr").exists())
        return Watched(1.0, 2.0, 0, False, "step 3: dev loss 6.5\nBLEU = 1.0")

    monkeypatch.setattr(wmt_size, "watch", watch)
    wmt_size.run_training(argparse.Namespace(train_steps=6, pairs=9), tmp_path)
    assert there == [False] * 4
    assert json.loads(capsys.readouterr().out)["dev_losses"] == [6.5, 6.5]
