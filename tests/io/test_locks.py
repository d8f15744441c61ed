import os
import subprocess
import sys

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.io import locks

HOLDER = """
import sys, time
from t2t_phrase.io import locks
with locks.exclusive(sys.argv[1]), locks.held(sys.argv[2]):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def other_process(tmp_path):
    """A process that holds `tmp_path/.lock`, and a lock on `tmp_path/folder`."""
    (tmp_path / "folder").mkdir()
    arguments = [str(tmp_path / ".lock"), str(tmp_path / "folder")]
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_second_process_is_refused_until_the_first_is_killed(other_process, tmp_path):
    with (
        pytest.raises(UserError, match=r"^somebody else$"),
        locks.exclusive(tmp_path / ".lock", busy="somebody else"),
    ):
        pass
    assert locks.is_held(tmp_path / "folder")
    other_process.kill()
    other_process.wait()
    # What the killed process left does not matter.
    assert (tmp_path / ".lock").exists()
    with locks.exclusive(tmp_path / ".lock", busy="somebody else"):
        assert locks.is_held(tmp_path / "folder") is False


def test_the_file_is_deleted_and_a_process_can_lock_again(tmp_path):
    for _ in range(2):
        with locks.exclusive(tmp_path / ".lock", busy="x"):
            assert os.listdir(tmp_path) == [".lock"]
        assert os.listdir(tmp_path) == []


def test_a_lock_that_was_deleted_by_its_holder_is_taken_anew(tmp_path, monkeypatch):
    opened = []

    def open_and_delete(*arguments):
        descriptor = os_open(*arguments)
        if not opened:
            os.unlink(tmp_path / ".lock")
        opened.append(descriptor)
        return descriptor

    os_open = os.open
    monkeypatch.setattr(os, "open", open_and_delete)
    with locks.exclusive(tmp_path / ".lock"):
        assert len(opened) == 2 and (tmp_path / ".lock").exists()


def test_whether_a_lock_is_held(other_process, tmp_path):
    assert locks.is_held(tmp_path / ".lock")
    assert locks.is_held(tmp_path / "none") is None
    (tmp_path / "free").touch()
    assert not locks.is_held(tmp_path / "free")
    other_process.kill()
    other_process.wait()
    assert not locks.is_held(tmp_path / ".lock")
