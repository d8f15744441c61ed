import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import forked
import pytest

from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.problem import get_problem

COMMAND = [sys.executable, "-m", "t2t_phrase.bin.datagen"]
WORDS = ["Haus", "See", "alt", "neu", "geht", "steht", "Kind", "Frau", "Mann"]


def write_corpus(folder, lines):
    rng = random.Random(0)
    folder.mkdir()
    for split, count in (("train", lines), ("dev", 20), ("test", 20)):
        for side in ("src", "tgt"):
            text = (" ".join(rng.choices(WORDS, k=10)) + "\n" for _ in range(count))
            (folder / f"{split}.{side}").write_text("".join(text))


def arguments(data, raw, *more):
    return [
        "--problem=translate_text",
        f"--data_dir={data}",
        f"--tmp_dir={raw}",
        "--vocab_size=400",
        *more,
    ]


def content(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.startswith(".")}


@pytest.mark.slow
def test_killed_and_restarted_gives_the_same_bytes(tmp_path):
    write_corpus(tmp_path / "raw", 20_000)
    shards = "--num_shards=40"
    data = tmp_path / "killed"
    # It may have finished before this process sees that there are shards.
    for _ in range(5):
        shutil.rmtree(data, ignore_errors=True)
        process = subprocess.Popen(
            [*COMMAND, *arguments(data, tmp_path / "raw", shards, "--num_workers=2")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        while not len(list(data.glob("translate_text-train-*-of-00040"))) > 3:
            assert process.poll() in (None, 0)
            time.sleep(0.01)
        process.kill()
        if process.wait() == -signal.SIGKILL:
            break
    else:
        pytest.fail("the command is always faster")
    # The workers notice that they are orphans.
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    else:
        pytest.fail("workers outlive the command")
    resumed = forked.run(
        "datagen", arguments(data, tmp_path / "raw", shards, "--num_workers=1"), data
    )
    assert resumed.code == 0 and "train: kept" in resumed.out, resumed.err
    # An uninterrupted run, without the seconds that another process takes to start.
    generate(
        get_problem("translate_text"),
        str(tmp_path / "whole"),
        str(tmp_path / "raw"),
        options=GenerateOptions(num_shards=40, vocab_size=400, num_workers=1),
        log=lambda line: None,
    )
    assert content(data) == content(tmp_path / "whole")


def test_a_user_mistake_is_one_line(tmp_path):
    write_corpus(tmp_path / "raw", 30)
    with open(tmp_path / "raw" / "train.tgt", "a") as file:
        file.write("one too many\n")
    data = tmp_path / "data"
    ended = forked.run("datagen", arguments(data, tmp_path / "raw"), data)
    assert ended.code == 2 and "train.tgt has 31" in ended.sentence


def test_several_problems_and_a_user_folder(tmp_path):
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from t2t_phrase import registry\n"
        "from t2t_phrase.data.sources.local_problem import LocalProblem\n"
        "@registry.problems.register\n"
        "class TranslateMine(LocalProblem):\n"
        "    languages = ('src', 'tgt')\n"
        "    vocab_size = 300\n"
    )
    write_corpus(tmp_path / "raw", 30)
    given = ["--problem=translate_text,translate_mine_rev", f"--t2t_usr_dir={package}"]
    given += [f"--data_dir={tmp_path / 'data'}", f"--tmp_dir={tmp_path / 'raw'}", "--num_shards=2"]
    ended = forked.run("datagen", given, tmp_path)
    assert "translate_text-train-*: 2 shards, 30 pairs" in ended.out, ended.err
    assert re.search("time: about [0-9]+ min for transformer_3k on [0-9]+ CPU core", ended.out)
    assert (tmp_path / "data" / "translate_mine-train-00001-of-00002").is_file()
    listed = forked.run("datagen", ["--registry_help", f"--t2t_usr_dir={package}"], tmp_path)
    assert {"translate_mine", "translate_ende_wmt16"} <= {*listed.out.split()}


def test_tasks_and_their_merge(tmp_path):
    write_corpus(tmp_path / "raw", 40)
    made = tmp_path / "made"
    given = arguments(tmp_path / "data", tmp_path / "raw", "--num_shards=2")
    for flags in (
        ["--only_vocabulary"],
        *[[f"--task_id={i}", "--num_tasks=2"] for i in (0, 1)],
        [],
    ):
        ended = forked.run("datagen", [*given, *flags], tmp_path)
        assert ended.code == 0, ended.err
    assert "next: t2t-phrase-trainer" in ended.out
    generate(
        get_problem("translate_text"),
        str(made),
        str(tmp_path / "raw"),
        options=GenerateOptions(num_shards=2, vocab_size=400),
        log=lambda line: None,
    )
    assert content(tmp_path / "data") == content(made)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--num_tasks=2"], "--num_tasks=2 needs the number of the task"),
        (["--task_id=1"], "--task_id=1: also give --num_tasks"),
        (["--task_id=0", "--num_tasks=2", "--only_vocabulary"], "is a separate step"),
    ],
)
def test_flags_of_tasks(tmp_path, flags, sentence):
    ended = forked.run("datagen", arguments(tmp_path / "data", tmp_path, *flags), tmp_path)
    assert ended.code == 2 and sentence in ended.sentence
