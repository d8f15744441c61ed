"""Files that the library itself reads again: damage is noticed, and nothing else is raised."""

from __future__ import annotations

import json
import pathlib
import tempfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2t_phrase.config import UserError
from t2t_phrase.io.journal import Journal
from t2t_phrase.io.line_windows import Window
from t2t_phrase.io.resumable import Result
from t2t_phrase.runs.history import FILE as HISTORY_FILE
from t2t_phrase.runs.history import History
from t2t_phrase.runs.record import FILE as RECORD_FILE
from t2t_phrase.runs.record import RunRecord

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=9), parts),
    max_leaves=6,
)
RECORD: dict[str, Any] = {
    "problem": "p",
    "model": "transformer",
    "hparams_set": "s",
    "overrides": "",
    "hparams": {"hidden_size": 8},
    "vocab_size": 8,
    "vocabulary": "",
    "random_seed": 1,
}
SETTINGS = {"beam_size": 4}
LINES = [f"line {number}" for number in range(6)]
BATCHES = [(0, 3), (1, 4), (2, 5)]


def window() -> Window:
    return Window(0, LINES, {})


def write_journal(folder: pathlib.Path, batches: list[tuple[int, int]]) -> pathlib.Path:
    with Journal(folder / "out", SETTINGS) as journal:
        done = journal.start(window())
        for rows in batches:
            if rows[0] not in done:
                journal.add(Result(rows, [LINES[row].upper() for row in rows], 1.0))
        return journal.path


@given(st.data())
def test_a_damaged_journal_is_refused_or_gives_the_same_output(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path = write_journal(folder, BATCHES[: data.draw(st.integers(1, 3))])
        content = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(content) - 1))
        damage = data.draw(st.sampled_from(["cut", "flip", "insert"]))
        if damage == "cut":
            del content[at:]
        elif damage == "flip":
            content[at] ^= data.draw(st.integers(1, 255))
        else:
            content[at:at] = data.draw(st.binary(min_size=1, max_size=20))
        path.write_bytes(content)
        try:
            with Journal(folder / "out", SETTINGS) as journal:
                done = journal.start(window())
                for rows in BATCHES:
                    if not done & set(rows):
                        journal.add(Result(rows, [LINES[row].upper() for row in rows], 1.0))
                journal.finish()
        except UserError:
            assert path.read_bytes() == content, "what is refused is left alone"
        else:
            expected = "".join(f"{line.upper()}\n" for line in LINES)
            assert (folder / "out").read_text() == expected


@given(st.dictionaries(st.sampled_from([*RECORD, "data", "replicas", "other"]), JSON))
def test_any_record_of_a_run_is_read_or_refused(changes: dict[str, Any]) -> None:
    check(RECORD_FILE, json.dumps({**RECORD, **changes}).encode(), RunRecord.load)


@given(JSON)
def test_any_scores_of_a_run_are_read_or_refused(value: Any) -> None:
    check(HISTORY_FILE, json.dumps(value).encode(), lambda folder: History.load(folder, until=9))


@pytest.mark.parametrize("content", [b"", b"\xff", b"{", b"[" * 100_000, b"NaN", b'{"1": 2}'])
def test_what_is_no_such_file_is_refused(content: bytes) -> None:
    for file, load in (
        (RECORD_FILE, RunRecord.load),
        (HISTORY_FILE, lambda folder: History.load(folder, until=9)),
    ):
        with pytest.raises(UserError, match=file):
            check(file, content, load, swallow=False)


def check(file: str, content: bytes, load: Any, *, swallow: bool = True) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / file).write_bytes(content)
        try:
            load(pathlib.Path(folder))
        except UserError as error:
            assert file in str(error)
            if not swallow:
                raise
