import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from t2t_phrase.io.child_process import call


def test_the_exit_code_of_a_command_is_passed_on():
    assert call(["true"]) == 0
    assert call(["sh", "-c", "exit 5"]) == 5
    assert call(["sh", "-c", "kill -9 $$"]) == 137


@pytest.mark.parametrize(("script", "status"), [("trap 'exit 7' INT", 7), ("trap 'exit' INT", 130)])
def test_an_interrupt_is_left_to_the_command(script, status):
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    assert call(["sh", "-c", f"{script}; while :; do sleep 0.05; done"]) == status
    assert time.monotonic() - start < 20


def test_a_signal_to_this_process_reaches_the_command(tmp_path):
    """The command saves before it ends, and is waited for."""
    script = (
        f"trap 'sleep 0.4; echo saved > {tmp_path}/file; exit' TERM; while :; do sleep 0.05; done"
    )
    program = f"""
import signal
from t2t_phrase.io.child_process import Signalled, call
def ask(number, frame):
    raise Signalled(number)
signal.signal(signal.SIGTERM, ask)
raise SystemExit(call(["sh", "-c", {script!r}]))
"""
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        time.sleep(0.8)
        process.terminate()
    assert process.returncode == 143 and (tmp_path / "file").read_text() == "saved\n"


def test_output_goes_to_a_file(tmp_path):
    with (tmp_path / "log").open("w") as file:
        assert call(["sh", "-c", "echo out; echo err >&2"], file) == 0
    assert sorted((tmp_path / "log").read_text().split()) == ["err", "out"]
