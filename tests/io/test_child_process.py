import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from t2t_phrase.io.child_process import call

# Waits for signals, says so, and exits with a code; with 1, if there are others.
COMMAND = """
import pathlib, signal, sys, time
code, ready, saved, *numbers = sys.argv[1:]
wanted = set(map(int, numbers))
signal.pthread_sigmask(signal.SIG_BLOCK, [1, 2, 15])
pathlib.Path(ready).touch()
received = [signal.sigtimedwait([1, 2, 15], 300) for _ in wanted]
time.sleep(0.3)
pathlib.Path(saved).touch()
sys.exit(int(code) if {found and found.si_signo for found in received} == wanted else 1)
"""
# Calls it from a process in which signals are exceptions, as they are in commands.
CALLER = """
import signal, sys
from t2t_phrase.io.child_process import call
from t2t_phrase.io.signals import Signalled
def ask(number, frame):
    raise Signalled(number)
for asking in (signal.SIGHUP, signal.SIGTERM):
    signal.signal(asking, ask)
sys.exit(call(sys.argv[1:]))
"""


def command(folder, code, *numbers):
    """Return a command that waits for signals, see `COMMAND`."""
    given = (code, folder / "ready", folder / "saved", *map(int, numbers))
    return [sys.executable, "-c", COMMAND, *map(str, given)]


def wait_for(path):
    end = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_exit_code_of_a_command_is_passed_on():
    assert call(["true"]) == 0
    assert call(["sh", "-c", "exit 5"]) == 5
    assert call(["sh", "-c", "kill -9 $$"]) == 137


@pytest.mark.parametrize(("code", "status"), [(7, 7), (0, 130)])
def test_an_interrupt_is_left_to_the_command(code, status, tmp_path):
    def interrupt():
        wait_for(tmp_path / "ready")
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    before = signal.getsignal(signal.SIGINT)
    assert call(command(tmp_path, code, signal.SIGINT)) == status
    assert signal.getsignal(signal.SIGINT) == before


def test_an_interrupt_while_the_command_starts_is_not_lost(monkeypatch):
    def start(*arguments, **options):
        process = popen(*arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return process

    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", start)
    assert call(["sleep", "300"]) == 130


def test_a_signal_to_this_process_reaches_the_command(tmp_path):
    """The command saves before it ends, and is waited for."""
    given = command(tmp_path, 0, signal.SIGTERM)
    with subprocess.Popen([sys.executable, "-c", CALLER, *given]) as process:
        wait_for(tmp_path / "ready")
        process.terminate()
    assert process.returncode == 143 and (tmp_path / "saved").exists()


def test_two_signals_at_once_reach_the_command(tmp_path):
    given = command(tmp_path, 7, signal.SIGHUP, signal.SIGTERM)
    with subprocess.Popen([sys.executable, "-c", CALLER, *given]) as process:
        wait_for(tmp_path / "ready")
        # A process that is stopped receives all of them when it goes on.
        for number in (signal.SIGSTOP, signal.SIGHUP, signal.SIGTERM, signal.SIGCONT):
            process.send_signal(number)
    assert process.returncode == 7 and (tmp_path / "saved").exists()


def test_output_goes_to_a_file(tmp_path):
    with (tmp_path / "log").open("w") as file:
        assert call(["sh", "-c", "echo out; echo err >&2"], file) == 0
    assert sorted((tmp_path / "log").read_text().split()) == ["err", "out"]
