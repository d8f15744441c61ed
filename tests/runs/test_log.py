"""The log file of a run."""

import re

from t2t_phrase.runs.log import FILE, RunLog
from t2t_phrase.runs.record import FILE as RECORD_FILE


def test_lines_wait_for_the_run(tmp_path):
    said = []
    log = RunLog(tmp_path, said.append)
    log("first")
    assert not (tmp_path / FILE).exists()
    (tmp_path / RECORD_FILE).write_text("{}")
    log("second\nthird")
    lines = (tmp_path / FILE).read_text().splitlines()
    assert [line.split("  ")[1] for line in lines] == ["first", "second", "third"]
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  ", line) for line in lines)
    assert said == ["first", "second\nthird"]


def test_a_file_that_cannot_be_written_is_said_once(tmp_path):
    said = []
    (tmp_path / RECORD_FILE).write_text("{}")
    (tmp_path / FILE).mkdir()
    log = RunLog(tmp_path, said.append)
    log("first")
    log("second")
    assert [line for line in said if line.startswith("WARNING")] == [said[1]]
    assert said[2] == "second"
