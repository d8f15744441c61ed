"""Progress in a terminal, where one line moves, and in a file, which has lines."""

import contextlib
import fcntl
import io
import os
import pty
import struct
import termios
import time
import types

import pytest

from t2t_phrase.io import reporting, terminal
from t2t_phrase.io.reporting import Ticker, note, progress, refresh
from t2t_phrase.io.terminal import MovingLine, Screen, close_lines, print_line
from t2t_phrase.runs.log import RunLog


class Terminal(io.StringIO):
    def isatty(self):
        return True


def rows(written):
    """Return what a terminal shows: "\\r" goes back to the beginning, others overwrite."""
    shown, row, at = [], [], 0
    for char in written:
        if char == "\r":
            at = 0
        elif char == "\n":
            shown.append("".join(row).rstrip())
            row, at = [], 0
        else:
            row[at : at + 1] = [char]
            at += 1
    return [*shown, "".join(row).rstrip()]


@pytest.fixture
def screens(monkeypatch, capsys):
    """Let standard output and standard error be one terminal."""
    made = Terminal()
    # pytest exchanges the streams between a fixture and its test.
    monkeypatch.setattr(terminal, "sys", types.SimpleNamespace(stdout=made, stderr=made))
    monkeypatch.setattr(reporting, "sys", terminal.sys)
    yield made
    close_lines()


def test_one_line_moves_below_those_that_stay(screens):
    screen = Screen()
    screen.progress("step 1")
    screen("saved")
    screen.progress("step 2 is longer")
    screen.progress("step 3")
    note("a note")
    assert rows(screens.getvalue()) == ["saved", "a note", "step 3"]
    screen.close()
    print_line("result", screens)
    assert rows(screens.getvalue()) == ["saved", "a note", "result", ""]
    assert "\x1b[31m" not in screens.getvalue()


def test_a_line_is_refreshed_only_in_a_terminal_and_not_too_often(screens, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    made = []
    screen = Screen()
    for number in range(7):
        refresh(screen, lambda number=number: made.append(number) or f"step {number}")
        now[0] += 0.09
    assert made == [0, 3, 6] and rows(screens.getvalue())[-1] == "step 6"
    screen.close()


def test_in_a_file_every_line_of_progress_stays(capsys):
    screen = Screen("stderr")
    progress(screen, "one")
    refresh(screen, lambda: pytest.fail("nobody sees it"))
    screen("two")
    screen.close()
    assert capsys.readouterr().err == "one\ntwo\n"


def test_any_function_takes_lines_of_progress():
    lines = []
    progress(lines.append, "one")
    refresh(lines.append, lambda: "two")
    assert lines == ["one"]


def test_the_log_of_a_run_keeps_lines_that_moved(screens, tmp_path):
    (tmp_path / "hparams.json").touch()
    log = RunLog(tmp_path, Screen())
    progress(log, "step 100")
    refresh(log, lambda: "step 101")
    log("saved")
    progress(log, "step 200")
    kept = (tmp_path / "train.log").read_text().splitlines()
    assert [line.partition("  ")[2] for line in kept] == ["step 100", "saved", "step 200"]
    assert rows(screens.getvalue()) == ["saved", "step 200"]


def test_a_bar_counts_lines(screens):
    ticker = Ticker("translated", 50)
    ticker.start(10)
    ticker(20)
    time.sleep(0.15)  # tqdm draws ten times in a second at most
    ticker(30)
    bar = rows(screens.getvalue())[-1]
    assert bar.startswith("translated:  60%|") and "30/50 [" in bar and " lines/s]" in bar
    ticker(50)
    assert rows(screens.getvalue()) == [""]
    note("done")
    assert rows(screens.getvalue()) == ["done", ""]


@pytest.mark.parametrize(("rows", "columns", "shown"), [(24, 30, 29), (0, 0, 79)])
def test_a_line_is_as_long_as_the_terminal_is_wide(rows, columns, shown):
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    with open(follower, "w") as stream:
        line = MovingLine(stream)
        line.show("x" * 200)
        stream.flush()
        written = ""
        while "x" not in written:
            written += os.read(leader, 1000).decode()
        assert written.count("x") == shown
        line.close()
    os.close(leader)


def test_results_in_the_terminal_have_no_bar(screens, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    ticker = Ticker("translated", 50, bar=False)
    now[0] += 11
    ticker(30)
    assert rows(screens.getvalue()) == ["translated 30 of 50 lines", ""]


def test_errors_come_after_the_line_is_gone(screens):
    Screen().progress("step 1")
    close_lines()
    screens.write("error: x\n")
    assert rows(screens.getvalue()) == ["error: x", ""]


def test_a_closed_stream_is_no_terminal():
    stream = io.StringIO()
    stream.close()
    assert not terminal.is_terminal(stream) and not terminal.is_terminal(None)


def test_lines_for_a_terminal_that_was_closed_are_dropped(monkeypatch):
    master, slave = pty.openpty()
    finished = False
    # What could not be written stays in the buffer until the stream is closed.
    with contextlib.suppress(OSError), open(slave, "w") as stream:
        monkeypatch.setattr(terminal, "sys", types.SimpleNamespace(stdout=stream))
        screen = Screen()
        screen.progress("step 1")
        os.close(master)
        screen.progress("step 2")
        screen("saved")
        monkeypatch.setattr(screen, "_in_terminal", False)
        with pytest.raises(OSError, match="Input/output error"):
            screen("written to a broken file")
        finished = True
    assert finished
