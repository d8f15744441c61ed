"""Commands that are only written down."""

import itertools
import os
import pathlib

import pytest

from t2t_phrase import registry
from t2t_phrase.comparison import steps
from t2t_phrase.comparison.recipe import Recipe
from t2t_phrase.comparison.sentences import Sentences


@pytest.fixture
def short_recipe(tmp_path):
    """Return the recipe of a training of 40 updates, and of translating one sentence."""
    registry.discover()
    made = Recipe(
        problem="translate_ende_multi30k",
        data_dir=tmp_path,
        work_dir=tmp_path,
        train_steps=40,
        hparams="",
        num_last_checkpoints=5,
        decode_hparams="beam_size=2",
        test_sentences=0,
    )
    source = tmp_path / "test.en"
    source.write_text("a\n")
    # Older than everything that `fake_commands` makes from it.
    os.utime(source, (0, 0))
    # In place of what the data folder would hold.
    vars(made)["test"] = Sentences(source, [["ein Satz ist da ."]], None, "one sentence")
    return made


@pytest.fixture
def fake_commands(monkeypatch, record_run):
    """Replace commands by what they would leave behind; return the list of those that ran."""
    ran, ticks = [], itertools.count(1_000_000_000)

    def call(command, output):
        module = command[2].rpartition(".")[2]
        flags = dict(flag.removeprefix("--").partition("=")[::2] for flag in command[3:])
        ran.append((module, flags))
        written = []
        if flags.get("schedule") == "evaluate":
            output.write("step 9: dev loss 1.0  perplexity 4.500  accuracy 1.00%  (9 tokens)\n")
        elif module == "trainer":
            folder = pathlib.Path(flags["output_dir"])
            written = [folder / f"model.ckpt-{flags['train_steps']}.index"]
            record_run(folder, flags)
        elif module == "avg":
            written = [pathlib.Path(flags["output_path"]) / "checkpoint"]
        else:
            written = [pathlib.Path(flags["decode_to_file"])]
            output.write("1.31 source positions evaluated for each target token\n")
        for path in written:
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text("Ein satz ist da .\n")
        tick = next(ticks)
        for path in (*written, pathlib.Path(output.name)):
            os.utime(path, (tick, tick))
        return 0

    monkeypatch.setattr(steps, "call", call)
    return ran
