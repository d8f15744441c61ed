import json
import re
import shutil

import numpy as np
import pytest
from toy_run import call

from t2t_phrase import registry
from t2t_phrase.bin import datagen
from t2t_phrase.config import UserError
from t2t_phrase.data.generation.damage import verify
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.records import count_records
from t2t_phrase.data.problem import get_problem
from t2t_phrase.data.shards.shard import open_shard, write_arrays
from t2t_phrase.runs.record import RunRecord

NAME = "translate_text"
TRAIN, DEV = f"{NAME}-train-00001-of-00002", f"{NAME}-dev-00000-of-00001"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damage")
    (folder / "raw").mkdir()
    for split, count in (("train", 40), ("dev", 4)):
        for suffix in ("src", "tgt"):
            text = "".join(f"the {suffix} of {split} number {i} is here\n" for i in range(count))
            (folder / "raw" / f"{split}.{suffix}").write_text(text)
    make(folder / "data", folder / "raw")
    return folder


def make(data, raw, **options):
    generate(
        get_problem(NAME),
        str(data),
        str(raw),
        options=GenerateOptions(**{"vocab_size": 300, "num_shards": 2, **options}),
        log=lambda line: None,
    )


@pytest.fixture
def data(made, tmp_path):
    shutil.copytree(made / "data", tmp_path / "data")
    return tmp_path / "data"


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut_after(path, records):
    """Leave a good shard with the first records only."""
    write_arrays(path, open_shard(path).take(np.arange(records)))
    assert count_records(path) == records


DAMAGE = {
    "shard missing": (lambda d: (d / TRAIN).unlink(), f"{TRAIN} is missing"),
    "shard empty": (lambda d: (d / DEV).write_bytes(b""), f"{DEV} has 0 bytes instead of "),
    "shard cut": (lambda d: cut_after(d / TRAIN, 3), f"{TRAIN} has [0-9,]+ bytes instead of "),
    "shard flipped": (lambda d: flip(d / TRAIN), f"{TRAIN} has changed since it was written"),
    "text": (lambda d: flip(d / f"{NAME}-dev.tgt"), "dev.tgt has changed"),
    "vocabulary": (lambda d: flip(d / f"vocab.{NAME}.300.model"), "300.model has changed"),
    "vocabulary missing": (lambda d: (d / f"vocab.{NAME}.300.model").unlink(), "model is missing"),
}


@pytest.mark.parametrize(("damage", "line"), DAMAGE.values(), ids=DAMAGE)
def test_verify_names_every_damage_and_writes_nothing(made, data, capsys, damage, line):
    flags = ("--verify", f"--problem={NAME}", f"--data_dir={data}")
    call(datagen, *flags)
    assert capsys.readouterr().out == f"{NAME}: no faults in {data}\n"
    damage(data)
    before = {path: path.stat().st_mtime_ns for path in data.iterdir()}
    with pytest.raises(UserError, match=f"data of {NAME} are damaged or unfinished; run t2t") as e:
        call(datagen, *flags)
    assert e.value.exit_code == 2
    found, summary = capsys.readouterr().out.splitlines()
    assert re.search(line, found)
    assert summary == f"{NAME}: 1 fault in {data}"
    assert {path: path.stat().st_mtime_ns for path in data.iterdir()} == before
    make(data, made / "raw")
    assert not list(verify(data, NAME))


def test_verify_counts(data):
    path = data / f"{NAME}-manifest.json"
    whole = path.read_text()
    for place, line in (
        (("splits", "train", "pairs"), "the train shards do not hold 39 records in total"),
        (("splits", "train", "shards", 0, "records"), "00000-of-00002 does not hold 39 records"),
        (("splits", "dev", "pairs"), "dev.src does not have 39 lines"),
        (("vocabulary", 0, "size"), "300.model does not have 39 entries"),
    ):
        content = json.loads(whole)
        entry = content
        for key in place[:-1]:
            entry = entry[key]
        entry[place[-1]] = 39
        path.write_text(json.dumps(content))
        assert any(line in found for found in verify(data, NAME)), line


def test_verify_without_data(data, tmp_path):
    assert [*verify(tmp_path, NAME)] == [f"{tmp_path / f'{NAME}-manifest.json'} is missing"]
    path = data / f"{NAME}-manifest.json"
    path.write_text(path.read_text().replace('"complete": true', '"complete": false'))
    assert [*verify(data, NAME)] == [f"{path}: the data are not finished"]


@pytest.mark.parametrize(
    ("damage", "split", "file"),
    [
        (lambda d: (d / TRAIN).unlink(), "train", TRAIN),
        (lambda d: (d / DEV).write_bytes(b""), "dev", DEV),
        (lambda d: cut_after(d / TRAIN, 7), "train", TRAIN),
        (lambda d: (d / TRAIN).write_bytes((d / TRAIN).read_bytes()[:-1]), "train", TRAIN),
    ],
    ids=["missing", "empty", "cut at a record", "cut in a record"],
)
def test_a_training_refuses_damaged_shards(made, data, damage, split, file):
    problem = get_problem(f"{NAME}_rev")
    assert problem.record_files(str(data), split)
    damage(data)
    with pytest.raises(UserError, match=rf"{file} (is|has) .*; to repair it, run t2t-phrase-"):
        problem.record_files(str(data), split)
    make(data, made / "raw")
    assert problem.record_files(str(data), split)
    assert not list(verify(data, NAME))


def test_counts_that_do_not_fit_are_refused_and_repaired(made, data):
    path = data / f"{NAME}-manifest.json"
    content = json.loads(path.read_text())
    content["splits"]["train"]["pairs"] = 400
    path.write_text(json.dumps(content))
    with pytest.raises(UserError, match=r"train shards of translate_text in .* do not hold all"):
        get_problem(NAME).record_files(str(data), "train")
    make(data, made / "raw")
    assert path.read_text() == (made / "data" / path.name).read_text()


def test_damaged_vocabularies_and_text_are_one_sentence(data):
    problem = get_problem(NAME)
    flip(data / f"vocab.{NAME}.300.model")
    with pytest.raises(
        UserError, match=r"300\.model is damaged: its checksum differs; to repair it, run"
    ):
        problem.vocabularies(str(data))
    (data / f"vocab.{NAME}.300.model").unlink()
    with pytest.raises(UserError, match=r"300\.model is missing; to repair it, run t2t-phrase"):
        problem.vocabularies(str(data))
    flip(data / f"{NAME}-dev.src")
    with pytest.raises(UserError, match=r"dev\.src is damaged: its checksum differs"):
        problem.raw_text(str(data), "dev")


def test_a_run_is_resumed_on_its_own_data_only(made, data, tmp_path):
    def record(folder):
        hparams = registry.models["transformer"].hparams_class().to_dict()
        values = {"model": "transformer", "hparams_set": "", "overrides": "", "hparams": hparams}
        sizes = {"vocab_size": 304, "vocabulary": "", "random_seed": 1}
        digest = get_problem(NAME).data_digest(str(folder), ())
        return RunRecord(**values, **sizes, problem=NAME, data=digest)

    old = record(data)
    assert len(old.data) == 64
    assert get_problem(f"{NAME}_rev").data_digest(str(data), ()) == old.data
    old.save(tmp_path)
    assert RunRecord.load(tmp_path) == old
    record(made / "data").check_same(old, "run")
    for number, options in enumerate(({"num_shards": 3}, {"random_seed": 5}, {"max_cases": 39})):
        make(tmp_path / f"{number}", made / "raw", **options)
        with pytest.raises(
            UserError, match=f"--output_dir=run holds a run on different data: .*{NAME}"
        ):
            record(tmp_path / f"{number}").check_same(old, "run")
    assert get_problem(NAME).data_digest(str(tmp_path / "nowhere"), ()) == ""
