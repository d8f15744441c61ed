import collections
import json
import pathlib
import shutil
import zipfile

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation import disk_space
from t2t_phrase.data.generation.disk_space import Need, data_space, require_space, used_bytes
from t2t_phrase.data.generation.generate import generate, generate_task
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.tasks import Task
from t2t_phrase.data.problem import get_problem
from t2t_phrase.data.sources.inputs import RawSpace

Usage = collections.namedtuple("Usage", "total used free")
OPTIONS = {"num_shards": 4, "vocab_size": 300, "target_vocab_size": 0, "vocab_type": "subwords"}


@pytest.fixture
def disk(monkeypatch):
    """Sets the free space of all disks."""
    sizes = {"free": 0}
    monkeypatch.setattr(
        shutil, "disk_usage", lambda path: Usage(10**15, 0, sizes["free"] + 0 * path.stat().st_size)
    )

    def set_free(count):
        sizes["free"] = count

    return set_free


@pytest.fixture
def raw(tmp_path):
    folder = tmp_path / "raw"
    folder.mkdir()
    for split, count in (("train", 4000), ("dev", 5)):
        for side in ("src", "tgt"):
            lines = (f"das Haus {i} steht am See {i % 7}\n" for i in range(count))
            (folder / f"{split}.{side}").write_text("".join(lines))
    return folder


def test_archives_are_not_unpacked_where_there_is_no_space(raw, disk, tmp_path):
    with zipfile.ZipFile(raw / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for side in ("src", "tgt"):
            archive.write(raw / f"train.{side}", f"all.{side}")
    size = (raw / "train.src").stat().st_size
    parts = {"train": [["all.zip:src", "all.zip:tgt"]], "dev": [["dev.src", "dev.tgt"]]}
    (raw / "translate_text.json").write_text(json.dumps(parts))
    problem = get_problem("translate_text")
    assert problem.raw_space(str(raw)) == RawSpace(unpacked=2 * size, text=2 * size)
    disk(1000)
    with pytest.raises(UserError, match="are needed"):
        generate(problem, str(tmp_path / "data"), str(raw), log=str)
    assert not (raw / ".extracted").exists()
    disk(10**9)
    generate(problem, str(tmp_path / "data"), str(raw), log=str)
    assert problem.raw_space(str(raw)) == RawSpace()


def test_what_is_needed_is_stated_and_compared(tmp_path, disk):
    lines = []
    needs = [
        Need(tmp_path / "a" / "b", 30_000_000_000, "downloads"),
        Need(tmp_path / "c", 20_000_000, "data"),
        Need(tmp_path, 0, "nothing"),
    ]
    disk(31_000_000_000)
    require_space(needs, title="x", log=lines.append)
    assert lines == [
        f"x: needs about 30.0 GB in {tmp_path}/a/b for downloads; 31.0 GB are free",
        f"x: needs about 20.0 MB in {tmp_path}/c for data; 31.0 GB are free",
    ]
    # Not clearly too little.
    disk(26_000_000_000)
    require_space(needs, title="x", log=lines.append)
    disk(25_000_000_000)
    match = r"x: about 30\.0 GB are needed in \S+/a/b and \S+/c, but only 25\.0 GB are free; make r"
    with pytest.raises(UserError, match=match):
        require_space(needs, title="x", log=lines.append)


@pytest.mark.parametrize(("shards", "size"), [(400_000, "0.4 MB"), (8_600_000_000, "8.6 GB")])
def test_the_size_of_finished_data_is_stated(shards, size):
    space = disk_space.DataSpace(text=10, shards=shards, spooled=10)
    assert space.purpose == f"the data while they are made, {size} in the end"


def test_disks_are_compared_one_by_one(tmp_path, monkeypatch):
    free = {"full": 1_000, "empty": 10**12}
    for name in free:
        (tmp_path / name).mkdir()
    stat = disk_space.os.stat
    found = collections.namedtuple("found", "st_dev")
    numbers = {tmp_path / name: number for number, name in enumerate(free)}
    monkeypatch.setattr(
        disk_space.os,
        "stat",
        lambda path, **more: found(numbers[path]) if path in numbers else stat(path, **more),
    )
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(0, 0, free[path.name]))
    needs = [Need(tmp_path / name, 10**6, name) for name in free]
    with pytest.raises(UserError, match=r"about 1\.0 MB are needed in \S+/full, but only 0\.0 MB"):
        require_space(needs, title="x", log=str)
    require_space(needs[1:], title="x", log=str)


def vocabulary(tmp_path, raw):
    generate(
        get_problem("translate_text"),
        str(tmp_path / "other"),
        str(raw),
        options=GenerateOptions(vocab_size=320),
        log=str,
        only_vocabulary=True,
    )
    return str(next((tmp_path / "other").glob("vocab*")))


@pytest.mark.parametrize("task", [None, Task(0, 2)])
def test_data_are_refused_before_anything_is_read(tmp_path, raw, disk, task):
    problem, data, lines = get_problem("translate_text"), tmp_path / "data", []
    disk(10**12)
    options = GenerateOptions(num_shards=4, vocab_file=(vocabulary(tmp_path, raw),))
    disk(1000)
    with pytest.raises(UserError, match=r"are needed in \S+/data, but only 0\.0 MB are free"):
        if task is None:
            generate(problem, str(data), str(raw), options=options, log=lines.append)
        else:
            generate_task(problem, str(data), str(raw), task, options=options, log=lines.append)
    assert not list(data.glob("*train-0*"))
    assert not any("read" in line for line in lines)


def test_what_is_there_is_not_needed_again(tmp_path, raw, disk):
    problem, options = get_problem("translate_text"), GenerateOptions(vocab_size=320, num_shards=4)
    lines = []
    disk(10**12)
    for only_vocabulary in (True, False):
        generate(
            problem,
            str(tmp_path / "data"),
            str(raw),
            options=options,
            log=lines.append,
            only_vocabulary=only_vocabulary,
        )
    stated = [float(x.split("needs about ")[1].split(" ")[0]) for x in lines if "needs about" in x]
    assert stated[1] < stated[0]


def test_space_for_downloads_is_stated_before_them(tmp_path, raw, disk, monkeypatch):
    problem = get_problem("translate_text")
    raw_space = RawSpace(download=10**9, unpacked=2 * 10**9, text=3 * 10**9)
    monkeypatch.setattr(problem, "raw_space", lambda tmp_dir: raw_space)
    monkeypatch.setattr(problem, "corpus", lambda tmp_dir: pytest.fail("downloaded"))
    lines = []
    disk(5 * 10**9)
    with pytest.raises(UserError, match=r"needed in \S+/raw and \S+/data, but only 5\.0 GB"):
        generate(problem, str(tmp_path / "data"), str(raw), log=lines.append)
    assert f"translate_text: needs about 3.0 GB in {raw} for downloads and unpacked" in lines[0]


def test_estimates_are_those_of_data(tmp_path, raw):
    problem, data = get_problem("translate_text"), tmp_path / "data"
    options = GenerateOptions(vocab_size=320, num_shards=4)
    text_bytes = problem.corpus(str(raw)).text_bytes("train")
    manifest = generate(problem, str(data), str(raw), options=options, log=str)
    space = data_space(text_bytes, manifest.options, workers=1)
    made = used_bytes(data.glob("translate_text-train-*"))
    assert 0.5 < made / space.shards < 1.2
    assert space.text == text_bytes and space.most >= space.text + space.shards


def test_estimates_grow_with_what_is_asked_for():
    plain = data_space(1000, OPTIONS, workers=1)
    assert data_space(1000, OPTIONS, workers=9).spooled == 2 * plain.shards
    assert data_space(1000, {**OPTIONS, "vocab_size": 32_000}, workers=1).shards < plain.shards
    wide = {**OPTIONS, "vocab_type": "words", "vocab_size": 100_000}
    narrow = {**wide, "vocab_size": 50_000}
    assert data_space(1000, wide, workers=1).shards > data_space(1000, narrow, workers=1).shards
    samples = {**OPTIONS, "sampled_segmentations": 3}
    assert data_space(1000, samples, workers=1).shards == pytest.approx(4 * plain.shards, abs=4)
    assert data_space(1000, OPTIONS, workers=1, share=0.5).text == 500
    auto = {**OPTIONS, "vocab_size": "auto", "target_vocab_size": "auto"}
    assert data_space(1000, auto, workers=1).shards < plain.shards


def test_files_that_vanish_are_of_no_bytes(tmp_path):
    (tmp_path / "a").write_bytes(bytes(7))
    assert used_bytes([tmp_path / "a", pathlib.Path(tmp_path, "b")]) == 7
