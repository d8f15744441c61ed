"""A recipe whose commands do not train."""

import itertools
import json
import os
import pathlib

import pytest

from t2t_phrase import registry
from t2t_phrase.comparison import steps
from t2t_phrase.comparison.recipe import Recipe
from t2t_phrase.comparison.sentences import Sentences

COUNTS = {"right": 3, "total": 4}
CONTRASTS = json.dumps(
    {
        "kinds": {"agreement": COUNTS, "polarity": {"right": 1, "total": 1}},
        "distances": {"agreement": {"1": COUNTS, ">15": {"right": 0, "total": 1}}},
    }
)


@pytest.fixture
def recipe(tmp_path, monkeypatch, record_run):
    """A recipe with its sentences, and the list of commands that ran."""
    registry.discover()
    source = tmp_path / "test.en"
    source.write_text("a\n")
    os.utime(source, (0, 0))
    made = Recipe(
        problem="translate_ende_multi30k",
        data_dir=tmp_path,
        work_dir=tmp_path,
        train_steps=40,
        hparams="num_heads=2",
        num_last_checkpoints=5,
        decode_hparams="beam_size=2",
        test_sentences=0,
        contrastive="grammar",
    )
    monkeypatch.setitem(made.__dict__, "test", Sentences(source, [["a"]], None, "one sentence"))
    ran, ticks = [], itertools.count(1_000_000_000)

    def call(command, output):
        module = command[2].rpartition(".")[2]
        flags = dict(flag.removeprefix("--").split("=", 1) for flag in command[3:])
        ran.append(module)
        if module == "trainer":
            folder = pathlib.Path(flags["output_dir"])
            written = [folder / "model.ckpt-40.index"]
            record_run(folder, flags)
        elif module == "avg":
            written = [pathlib.Path(flags["output_path"]) / "checkpoint"]
        elif module == "contrast":
            written = [pathlib.Path(flags["json_to_file"])]
        else:
            written = [pathlib.Path(flags["decode_to_file"])]
        for path in written:
            path.parent.mkdir(exist_ok=True)
            path.write_text(CONTRASTS if module == "contrast" else "ein Satz\n")
            tick = next(ticks)
            os.utime(path, (tick, tick))
        return 0

    monkeypatch.setattr(steps, "call", call)
    return made, ran
