"""Portions that several processes stage are the whole as one process stages it."""

import itertools
import pathlib
import random

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.generation import training_text
from t2t_phrase.data.generation.dealing import deal, dealt_to
from t2t_phrase.data.generation.faults import joined
from t2t_phrase.data.generation.output_files import Outputs
from t2t_phrase.data.generation.portions import Portion, stage_portion, stage_portions
from t2t_phrase.data.generation.progress import Progress
from t2t_phrase.data.generation.staging import stage
from t2t_phrase.data.generation.training_text import stage_training_text
from t2t_phrase.data.sources.corpus import TextCorpus
from t2t_phrase.io.files import sha256_of

SHARDS = 5


@pytest.fixture
def corpus(tmp_path):
    draw = random.Random(0)
    parts = []
    for part in range(2):
        columns = ([], [])
        for _ in range(700):
            for column in columns:
                words = draw.choices(
                    ["a\tb", "ein  Satz", "\u2028", "Wort", "\xa0"], k=draw.randint(0, 3)
                )
                line = " ".join(words).encode()
                column.append(b"\xff" if draw.random() < 0.01 else line)
        paths = [tmp_path / f"{part}.{side}" for side in ("src", "tgt")]
        for path, lines in zip(paths, columns, strict=True):
            path.write_bytes(b"\r\n".join(lines) + b"\n")
        parts.append(paths)
    return TextCorpus({"train": parts})


def portion(corpus, folder, **changes):
    folder.mkdir(exist_ok=True)
    files = {i: (folder / f"{i}.source", folder / f"{i}.target") for i in range(SHARDS)}
    options = {"max_characters": 12, "max_cases": 0, **changes}
    return Portion(corpus=corpus, files=files, shards=SHARDS, **options)


def slowly(corpus, whole):
    """Return what `stage` makes, which other corpora take."""
    return stage(
        itertools.islice(corpus.pairs("train"), whole.max_cases or None),
        outputs=Outputs(list(whole.files.values()), []),
        drop_faulty=True,
        max_characters=whole.max_characters,
        progress=Progress("test", print),
    )


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("processes", [1, 2, 9])
def test_portions_are_what_one_process_stages(corpus, tmp_path, processes):
    expected = slowly(corpus, portion(corpus, tmp_path / "slow"))
    parts = portion(corpus, tmp_path / "fast").split(processes)
    assert len(parts) == min(processes, SHARDS)
    found = stage_portions(parts, read=int, waiting=int) if processes < 3 else None
    if found is None:
        # In this process, without the seconds that nine take to start.
        for part in parts:
            stage_portion(part)
    else:
        assert found.pairs == expected.pairs
        assert found.faults.by_kind() == expected.faults
        assert found.faults.describe("dropped") == expected.messages
        assert found.sums == {p.name: sha256_of(p) for p in (tmp_path / "fast").iterdir()}
    assert content(tmp_path / "fast") == content(tmp_path / "slow")


def test_a_limit_is_of_pairs_that_are_read(corpus, tmp_path):
    for most in (901, 902):
        expected = slowly(corpus, portion(corpus, tmp_path / f"slow-{most}", max_cases=most))
        parts = portion(corpus, tmp_path / f"some-{most}", max_cases=most).split(2)
        found = [stage_portion(part) for part in parts]
        assert sum(part.pairs for part in found) == expected.pairs
        assert joined(part.faults for part in found).by_kind() == expected.faults


def test_a_folder_that_another_task_removes_is_made_again(corpus, tmp_path):
    whole = portion(corpus, tmp_path / "work")
    (tmp_path / "work").rmdir()
    assert stage_portion(whole).pairs
    assert len(content(tmp_path / "work")) == 2 * SHARDS


def test_wanted_lines_are_those_of_all_lines(corpus):
    every = list(enumerate(corpus.pairs("train")))
    wanted = dealt_to([1, 3], SHARDS)
    assert list(corpus.some("train", wanted)) == [p for p in every if deal(p[0], SHARDS) in (1, 3)]
    assert list(corpus.some("train", dealt_to(range(SHARDS), SHARDS))) == every


def test_lengths_that_differ_are_noticed_by_every_portion(corpus, tmp_path):
    path = pathlib.Path(next(corpus.pairs("train")).names[1])
    path.write_bytes(path.read_bytes() + b"one more\n")
    for part in portion(corpus, tmp_path / "x").split(SHARDS):
        with pytest.raises(UserError, match=r"has 700 lines but .* has 701"):
            stage_portion(part)


@pytest.mark.slow
def test_large_corpora_are_read_in_several_processes(corpus, tmp_path, monkeypatch):
    messages = []
    whole = portion(corpus, tmp_path / "x")
    options = {"title": "t", "log": messages.append, "workers": 2}
    stage_training_text(whole, text_bytes=training_text.MANY_BYTES - 1, **options)
    assert "processes" not in messages[-1]
    monkeypatch.setattr(training_text, "_INTERVAL", 0)
    before = content(tmp_path / "x")
    stage_training_text(whole, text_bytes=training_text.MANY_BYTES, **options)
    assert "in 2 processes" in messages[-1] and "MB of text" in messages[-2]
    assert content(tmp_path / "x") == before
