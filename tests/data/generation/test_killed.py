"""Generation that is killed at any file operation ends in the same bytes when it is run again."""

import os
import pathlib
import random
import shutil

import pytest
from killing import killed_after

from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.sources.local_problem import LocalProblem
from t2t_phrase.features import Feature

WORDS = ["Haus", "See", "alt", "neu", "geht", "steht", "Kind", "Frau", "Mann"]
MOST = 400  # file operations of a run, more than there are


class Killed(LocalProblem):
    """Has side files, so that the training text is kept as well."""

    languages = ("en", "de")
    vocab_size = 300
    num_shards = 3
    features = (Feature(name="case", stream="case"),)


def write_corpus(folder):
    draw = random.Random(0)
    folder.mkdir()
    for split, count in (("train", 60), ("dev", 5), ("test", 5)):
        lines = [draw.choices(WORDS, k=6) for _ in range(count)]
        for suffix in ("en", "de", "en.case"):
            columns = (["7" if suffix == "en.case" else word for word in line] for line in lines)
            text = "".join(f"{' '.join(column)}\n" for column in columns)
            (folder / f"{split}.{suffix}").write_text(text)


def run(data, raw, log=lambda line: None, **options):
    problem = Killed()
    generate(problem, str(data), str(raw), options=GenerateOptions(**options), log=log)


def content(folder):
    return {
        path.name: path.read_bytes() if path.is_file() else None
        for path in folder.iterdir()
        if not path.name.endswith("-lock")
    }


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Do not wait for the disk: a killed process leaves what it has given to the kernel."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    write_corpus(folder / "raw")
    run(folder / "whole", folder / "raw")
    return folder


# The victims of a repair: files that are deleted before it.
REPAIRS = {
    "first run": None,
    "a training shard": ["killed-train-00001-of-00003"],
    "a development shard": ["killed-dev-00000-of-00001"],
    "the vocabulary": ["vocab.killed.300.model"],
    "text and side files": ["killed-dev.de", "killed-train.case", "killed-test.case"],
}
OFTEN = ("first run", "a training shard")


def check(whole, folder, victims, operations):
    data = folder / f"{operations}"
    if victims is not None:
        shutil.copytree(whole / "whole", data)
        for name in victims:
            (data / name).unlink()
    status = killed_after(operations, lambda: run(data, whole / "raw"))
    assert status in (0, 9)
    run(data, whole / "raw")
    assert content(data) == content(whole / "whole"), operations
    shutil.rmtree(data)
    return status


@pytest.mark.parametrize(
    "victims",
    [
        pytest.param(each, id=name, marks=() if name in OFTEN else pytest.mark.slow)
        for name, each in REPAIRS.items()
    ],
)
def test_a_kill_now_and_then(whole, tmp_path, victims):
    status, operations = 9, 3
    while status == 9:
        status = check(whole, tmp_path, victims, operations)
        operations += 31
    assert 30 < operations < MOST


@pytest.mark.slow
@pytest.mark.parametrize("victims", REPAIRS.values(), ids=REPAIRS)
def test_a_kill_anywhere(whole, tmp_path, victims):
    status, operations = 9, 0
    while status == 9:
        status = check(whole, tmp_path, victims, operations)
        operations += 1
    assert 30 < operations < MOST


def test_killed_again_and_again(whole, tmp_path):
    for operations in (30, 60, 45, 80):
        assert killed_after(operations, lambda: run(tmp_path / "data", whole / "raw")) == 9
    run(tmp_path / "data", whole / "raw")
    assert content(tmp_path / "data") == content(whole / "whole")


def stopped(whole, tmp_path, operations=75):
    """Return a copy of the raw files and unfinished data whose training set is staged."""
    raw, data = tmp_path / "raw", tmp_path / "data"
    shutil.copytree(whole / "raw", raw)
    assert killed_after(operations, lambda: run(data, raw)) == 9
    assert (data / ".killed-work" / "train.staged.json").exists()
    return raw, data


def fresh(raw, folder, **options):
    run(folder, raw, **options)
    return content(folder)


def test_work_files_are_used_only_if_their_record_fits(whole, tmp_path):
    raw, data = stopped(whole, tmp_path)
    messages = []
    work = data / ".killed-work"
    for path in sorted(work.glob("train-*")):
        copy = tmp_path / "copy"
        shutil.copytree(data, copy)
        cut = copy / ".killed-work" / path.name
        cut.write_bytes(cut.read_bytes()[:-5])
        messages.clear()
        run(copy, raw, messages.append)
        assert any("train: read" in line for line in messages)
        assert content(copy) == content(whole / "whole")
        shutil.rmtree(copy)
    messages.clear()
    run(data, raw, messages.append)
    assert not any("train: read" in line for line in messages)
    assert content(data) == content(whole / "whole")


@pytest.mark.parametrize("options", [{"num_shards": 2}, {"max_cases": 30}, {"vocab_size": 290}])
def test_other_options_after_a_kill_start_anew(whole, tmp_path, options):
    raw, data = stopped(whole, tmp_path, 100)
    messages = []
    run(data, raw, messages.append, **options)
    (name,) = options
    assert f"killed: an unfinished run had different options ({name}: " in messages[0]
    assert content(data) == fresh(raw, tmp_path / "fresh", **options)


def add(raw):
    for suffix in ("en", "de", "en.case"):
        shutil.copy(raw / f"dev.{suffix}", raw / f"train.more.{suffix}")


def change(raw):
    (raw / "train.de").write_text((raw / "train.de").read_text().replace("Haus", "Huus"))


def remove(raw):
    for suffix in ("en", "de", "en.case"):
        (raw / f"train.{suffix}").rename(raw / f"train.other.{suffix}")


def swap(raw):
    for suffix in ("en", "de", "en.case"):
        shutil.copy(raw / f"dev.{suffix}", raw / f"test.{suffix}")


def remove_side_files(raw):
    for path in raw.glob("*.case"):
        path.unlink()


CHANGES = {
    add: "added: train.more.en, train.more.de, train.more.en.case",
    change: "changed: train.de",
    remove: "added: train.other.en, train.other.de, train.other.en.case",
    swap: "changed: test.en, test.de",
    remove_side_files: "gone: train.en.case, dev.en.case, test.en.case",
}


@pytest.mark.parametrize(("edit", "difference"), CHANGES.items())
def test_raw_files_that_change_after_a_kill_are_read_anew(whole, tmp_path, edit, difference):
    raw, data = stopped(whole, tmp_path, 100)
    edit(raw)
    messages = []
    run(data, raw, messages.append)
    assert messages[0].startswith(
        f"killed: the raw files have changed since an unfinished run ({difference}"
    )
    assert content(data) == fresh(raw, tmp_path / "fresh")


def test_a_killed_repair_is_still_finished_data(whole, tmp_path):
    raw, data = tmp_path / "raw", tmp_path / "data"
    shutil.copytree(whole / "raw", raw)
    shutil.copytree(whole / "whole", data)
    pathlib.Path(data / "killed-train-00001-of-00003").unlink()
    # Until all text has been read, the data count as finished.
    assert killed_after(110, lambda: run(data, raw)) == 9
    assert '"complete": false' in (data / "killed-manifest.json").read_text()
    change(raw)
    with pytest.raises(ValueError, match=r"not those that killed in .*\(changed: train\.de\)"):
        run(data, raw)
    with pytest.raises(ValueError, match="made with different options"):
        run(data, raw, vocab_size=290)
    shutil.copy(whole / "raw" / "train.de", raw / "train.de")
    run(data, raw)
    assert content(data) == content(whole / "whole")
