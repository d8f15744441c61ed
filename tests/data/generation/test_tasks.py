"""Tasks that share the making of data end, once merged, in the bytes of one process."""

import json
import os
import random
import shutil

import pytest
from killing import killed_after

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.generate import generate, generate_task
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.tasks import Task, load_records
from t2t_phrase.data.sources.local_problem import LocalProblem
from t2t_phrase.features import Feature
from t2t_phrase.io import locks

WORDS = ["Haus", "See", "alt", "neu", "geht", "steht", "Kind", "Frau", "Mann"]
TASKS = 3


class Shared(LocalProblem):
    languages = ("en", "de")
    vocab_size = 300
    num_shards = 5
    features = (Feature(name="case", stream="case"),)


def write_corpus(folder, *, side=False):
    draw = random.Random(0)
    folder.mkdir()
    for split, count in (("train", 80), ("dev", 5), ("test", 5)):
        lines = [draw.choices(WORDS, k=6) for _ in range(count)]
        for suffix in ("en", "de", *(["en.case"] if side else [])):
            texts = [" ".join("7" if "case" in suffix else w for w in line) for line in lines]
            if split == "train" and not side:
                # Dropped: an empty side, and one that is not UTF-8.
                texts[7 if suffix == "en" else 40] = ""
                texts[60] += "\udcff"
            text = "".join(f"{line}\n" for line in texts)
            (folder / f"{split}.{suffix}").write_text(text, errors="surrogateescape")


def whole(data, raw, *, only_vocabulary=False, log=str, **options):
    generate(
        Shared(),
        str(data),
        str(raw),
        options=GenerateOptions(**options),
        log=log,
        only_vocabulary=only_vocabulary,
    )


def run(data, raw, index, *, tasks=TASKS, log=str, **options):
    task = Task(index, tasks)
    generate_task(Shared(), str(data), str(raw), task, options=GenerateOptions(**options), log=log)


def content(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    for raw, side in (("raw", False), ("side", True)):
        write_corpus(folder / raw, side=side)
        whole(folder / f"{raw}-data", folder / raw)
    return folder


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """Do not wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def test_tasks_in_one_folder(made, tmp_path):
    raw, data = made / "raw", tmp_path / "data"
    whole(data, raw, only_vocabulary=True)
    assert not list(data.glob("shared-train-*"))
    messages = []
    for index in (2, 0, 1):
        run(data, raw, index, log=messages.append)
    assert not any("read" in line for line in messages)
    assert len(list(data.glob("shared-train-*-of-00005"))) == 5
    run(data, raw, 1, log=messages.append)
    assert "kept 2 of 2 shards" in messages[-2]
    whole(data, raw, log=messages.append)
    assert "shared: merging what 3 tasks have made" in messages
    assert content(data) == content(made / "raw-data")
    run(data, raw, 1, log=messages.append)
    assert "are complete, nothing to do" in messages[-1]


def test_tasks_in_folders_of_their_own(made, tmp_path):
    raw = made / "raw"
    whole(tmp_path / "first", raw, only_vocabulary=True)
    merged = tmp_path / "merged"
    merged.mkdir()
    for index in range(TASKS):
        own = tmp_path / f"own{index}"
        # What `cp data/*` copies.
        shutil.copytree(tmp_path / "first", own, ignore=lambda _, names: {".shared-work"})
        messages = []
        run(own, raw, index, log=messages.append)
        assert not (own / ".shared-work").exists()
        assert any("train: read" in line for line in messages)
        for path in own.iterdir():
            shutil.copy2(path, merged)
    messages = []
    whole(merged, raw, log=messages.append)
    assert not any("train: read" in line for line in messages)
    assert content(merged) == content(made / "raw-data")


def test_a_given_vocabulary_needs_no_first_step(made, tmp_path):
    raw, data = made / "raw", tmp_path / "data"
    given = {"vocab_from": str(made / "raw-data"), "sampled_segmentations": 1}
    for index in range(2):
        run(data, raw, index, tasks=2, **given)
    whole(data, raw, **given)
    whole(tmp_path / "expected", raw, **given)
    assert content(data) == content(tmp_path / "expected")


def test_side_files_are_read_once_for_all_tasks(made, tmp_path):
    raw, data = made / "side", tmp_path / "data"
    whole(data, raw, only_vocabulary=True)
    for index in range(TASKS):
        run(data, raw, index)
    other = tmp_path / "other"
    shutil.copytree(data, other, ignore=lambda _, names: {".shared-work"})
    (other / "shared-train-00000-of-00005").unlink()
    with pytest.raises(UserError, match=r"is read once for all tasks: give them .*--only_vocab"):
        run(other, raw, 0)
    whole(data, raw)
    assert content(data) == content(made / "side-data")


def check_kill(made, folder, operations, *, shared):
    """Kill every step at an operation, run it again, and compare; the statuses."""
    raw, data = made / "raw", folder / str(operations)
    steps = [lambda: whole(data, raw, only_vocabulary=True)]
    steps += [lambda index=index: run(data, raw, index) for index in range(TASKS)]
    steps += [lambda: whole(data, raw)]
    statuses = []
    for number, step in enumerate(steps):
        statuses.append(killed_after(operations, step))
        assert statuses[-1] in (0, 9)
        step()
        if number == 0 and not shared:
            shutil.rmtree(data / ".shared-work")
    found = content(data)
    assert {n: c for n, c in found.items() if "lock" not in n} == content(made / "raw-data")
    shutil.rmtree(data)
    return statuses


@pytest.mark.parametrize("shared", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_kill_now_and_then(made, tmp_path, shared):
    for operations in (8, 40):
        assert 9 in check_kill(made, tmp_path, operations, shared=shared)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_a_kill_anywhere(made, tmp_path, shared):
    statuses, operations = [9], 0
    while 9 in statuses:
        statuses = check_kill(made, tmp_path, operations, shared=shared)
        operations += 1
    assert operations > 30


@pytest.fixture
def two_of_three(made, tmp_path):
    raw, data = tmp_path / "raw", tmp_path / "data"
    shutil.copytree(made / "raw", raw)
    whole(data, raw, only_vocabulary=True)
    for index in (0, 2):
        run(data, raw, index)
    return raw, data


def test_a_missing_task_is_named(two_of_three):
    raw, data = two_of_three
    before = content(data)
    with pytest.raises(UserError, match=r"task 1 of 3 has not been run: run it with --task_id=1 -"):
        whole(data, raw)
    with pytest.raises(UserError, match=r"began with different options \(max_cases: 0 -> 9\)"):
        whole(data, raw, only_vocabulary=True, max_cases=9)
    (data / "shared-task-00002-of-00003.json").unlink()
    with pytest.raises(UserError, match=r"task 1 of 3 has not been run \(nor have 2\)"):
        whole(data, raw)
    assert {*before} - {*content(data)} == {"shared-task-00002-of-00003.json"}


def test_an_unfinished_task_is_named(two_of_three):
    raw, data = two_of_three
    assert killed_after(30, lambda: run(data, raw, 1)) == 9
    assert [record.complete for record in load_records(data, "shared")] == [True, False, True]
    with pytest.raises(UserError, match="task 1 of 3 has not finished: run it with"):
        whole(data, raw)


def test_a_task_killed_after_its_last_shard_is_finished(made, two_of_three):
    raw, data = two_of_three
    run(data, raw, 1)
    path = data / "shared-task-00001-of-00003.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "complete": False}))
    with pytest.raises(UserError, match="task 1 of 3 has not finished"):
        whole(data, raw)
    run(data, raw, 1)
    whole(data, raw)
    found = content(data)
    assert {n: c for n, c in found.items() if "lock" not in n} == content(made / "raw-data")


def test_tasks_that_do_not_fit_are_refused(two_of_three):
    raw, data = two_of_three
    with pytest.raises(UserError, match=r"differs from task 0 of 3 .* \(--num_tasks=3\); give all"):
        run(data, raw, 1, tasks=4)
    with pytest.raises(UserError, match=r"made with different options \(max_cases: 0 -> 9\)"):
        run(data, raw, 1, max_cases=9)
    with open(raw / "train.en", "a") as english, open(raw / "train.de", "a") as german:
        print("one", "more", file=english)
        print("noch", "eins", file=german)
    with pytest.raises(UserError, match=r"the raw files are not those .*changed: train\.en, train"):
        run(data, raw, 1)


def test_tasks_of_other_raw_files_or_vocabularies_are_refused(made, tmp_path, two_of_three):
    raw, _ = two_of_three
    other = tmp_path / "vocabulary"
    whole(other, raw, vocab_size=290, only_vocabulary=True)
    vocabularies = [next(folder.glob("vocab*")) for folder in (made / "raw-data", other)]
    shared = tmp_path / "given"
    run(shared, raw, 0, vocab_file=(str(vocabularies[0]),))
    with pytest.raises(UserError, match=r"differs from task 0 of 3 .*given_vocabulary"):
        run(shared, raw, 1, vocab_file=(str(vocabularies[1]),))
    (raw / "train.en").write_bytes((raw / "train.en").read_bytes().replace(b"Haus", b"Dorf"))
    with pytest.raises(UserError, match=r"from task 0 of 3 .*\(raw files changed: train\.en\)"):
        run(shared, raw, 1, vocab_file=(str(vocabularies[0]),))
    with pytest.raises(UserError, match=r"has no vocabulary yet.*with --only_vocabulary instead"):
        run(tmp_path / "none", raw, 0)


def test_another_given_vocabulary_does_not_replace_the_first(made, tmp_path, two_of_three):
    raw, _ = two_of_three
    first, other = tmp_path / "first.model", tmp_path / "other.model"
    first.write_bytes(next((made / "raw-data").glob("vocab*")).read_bytes())
    other.write_bytes(next((made / "side-data").glob("vocab*")).read_bytes())
    assert other.read_bytes() != first.read_bytes()
    data = tmp_path / "given"
    whole(data, raw, vocab_file=(str(first),), only_vocabulary=True)
    for make in (whole, lambda *args, **options: run(*args, 0, **options)):
        with pytest.raises(UserError, match=r"vocab\.shared\.300\.model exists and differs from"):
            make(data, raw, vocab_file=(str(other),))


def test_complete_data_are_repaired_only_as_a_whole(tmp_path, two_of_three):
    raw, _ = two_of_three
    data = tmp_path / "whole"
    whole(data, raw)
    shard = next(data.glob("shared-train-00000*"))
    content = shard.read_bytes()
    shard.write_bytes(content[:-8])
    with pytest.raises(UserError, match=r"--only_vocabulary is for data that are still to be made"):
        whole(data, raw, only_vocabulary=True)
    path = data / "shared-manifest.json"
    assert json.loads(path.read_text())["complete"]
    path.write_text(path.read_text().replace('"complete": true', '"complete": false'))
    with pytest.raises(UserError, match=r"their repair or extension has not finished; run the"):
        run(data, raw, 0)
    whole(data, raw)
    assert shard.read_bytes() == content
    messages = []
    run(data, raw, 0, log=messages.append)
    whole(data, raw, only_vocabulary=True, log=messages.append)
    assert all("complete" in line and "nothing to do" in line for line in messages)


def test_tasks_without_a_usable_pair_are_not_merged(made, tmp_path):
    raw, data = tmp_path / "raw", tmp_path / "data"
    write_corpus(raw)
    (raw / "train.en").write_text("\n" * 80)
    given = (str(next((made / "raw-data").glob("vocab*"))),)
    for index in range(TASKS):
        run(data, raw, index, vocab_file=given)
    with pytest.raises(UserError, match=r"read no usable sentence pair: 81 x empty side; 1"):
        whole(data, raw, vocab_file=given)


def test_merging_checks_what_was_copied(made, tmp_path, two_of_three):
    raw, data = two_of_three
    run(data, raw, 1)
    path = data / "shared-task-00001-of-00003.json"
    record = json.loads(path.read_text())

    def edited(**changes):
        path.write_text(json.dumps({**record, **changes}))

    edited(versions={**record["versions"], "sentencepiece": "0.0.1"})
    with pytest.raises(UserError, match=r"task 1 of 3 differs from task 0 of 3 \(sentencepiece: 0"):
        whole(data, raw)
    edited(vocabulary=[{**record["vocabulary"][0], "sha256": "0"}])
    with pytest.raises(UserError, match=r"task 1 .* \(different vocabulary\); give all of them"):
        whole(data, raw)
    edited(task=2)
    with pytest.raises(UserError, match=r"00001-of-00003\.json cannot be read as .*different task"):
        whole(data, raw)
    edited()
    shard = data / "shared-train-00004-of-00005"
    moved = shard.rename(tmp_path / "moved")
    with pytest.raises(
        UserError, match=r"00004-of-00005 is missing; run --task_id=1 --num_tasks=3"
    ):
        whole(data, raw)
    moved.rename(shard)
    with pytest.raises(UserError, match=r"differs from this command \(vocab_size: 300 -> 290\)"):
        whole(data, raw, vocab_size=290)
    english = raw / "train.en"
    original = english.read_bytes()
    english.write_bytes(original.replace(b"Haus", b"Dorf"))
    with pytest.raises(UserError, match=r"read different raw files \(changed: train\.en\)"):
        whole(data, raw)
    english.write_bytes(original)
    whole(data, raw)
    assert content(data) == content(made / "raw-data")


def test_a_damaged_shard_of_a_task_is_made_again(two_of_three):
    raw, data = two_of_three
    path = data / "shared-train-00000-of-00005"
    before = path.read_bytes()
    path.write_bytes(b"damaged")
    run(data, raw, 0)
    assert path.read_bytes() == before


def test_the_same_task_is_run_once_at_a_time(made, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    busy = "another process is running task 1 of 3 of shared in"
    with locks.exclusive(Task(1, 3).lock_path(data, "shared")):
        with pytest.raises(UserError, match=busy):
            run(data, made / "raw", 1)
        with pytest.raises(UserError, match="another process is writing shared to"):
            whole(data, made / "raw")
    with (
        locks.exclusive(data / ".shared-lock"),
        pytest.raises(UserError, match="another process is writing shared to"),
    ):
        run(data, made / "raw", 1)


@pytest.mark.parametrize(("index", "tasks"), [(3, 3), (-1, 2)])
def test_tasks_have_numbers(index, tasks):
    with pytest.raises(UserError, match="N tasks are numbered 0 to N - 1"):
        Task(index, tasks)
    with pytest.raises(UserError, match="also give --num_tasks"):
        Task(0, 0)


def test_there_are_at_most_as_many_tasks_as_shards(made, tmp_path):
    with pytest.raises(UserError, match="--num_tasks=6: there are only 5 training shards"):
        run(tmp_path, made / "raw", 0, tasks=6)


def test_shares_are_all_shards():
    for tasks in range(1, 8):
        shares = [Task(index, tasks).shards(7) for index in range(tasks)]
        assert sorted(number for share in shares for number in share) == list(range(7))
