import errno
import os
import pathlib
import pickle

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.files import WriteError, atomic, explain_os_error, write


def test_content_appears_under_its_name_at_once(tmp_path):
    path = tmp_path / "x"
    write(path, "ä\r\n")
    assert path.read_bytes() == "ä\r\n".encode()
    with atomic(path) as temporary:
        assert temporary.parent == tmp_path
        temporary.write_bytes(b"new")
        assert path.read_bytes() == "ä\r\n".encode()
    assert path.read_bytes() == b"new" and os.listdir(tmp_path) == ["x"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    write(tmp_path / "x", b"old")
    with pytest.raises(KeyError), atomic(tmp_path / "x") as temporary:
        temporary.write_bytes(b"half")
        raise KeyError
    assert (tmp_path / "x").read_bytes() == b"old" and os.listdir(tmp_path) == ["x"]


def test_the_file_behind_a_link_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    write(tmp_path / "real" / "x", b"old")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real" / "x")
    write(link, b"new")
    assert link.is_symlink() and (tmp_path / "real" / "x").read_bytes() == b"new"


def test_content_is_on_disk_before_its_name_and_the_name_before_the_return(tmp_path, monkeypatch):
    events = []

    def record(name, real):
        def call(*args):
            events.append(name)
            return real(*args)

        monkeypatch.setattr(os, name, call)

    record("fsync", os.fsync)
    record("replace", os.replace)
    write(tmp_path / "x", b"new")
    assert events == ["fsync", "replace", "fsync"]


def test_errors_are_the_users_and_the_systems(tmp_path):
    with pytest.raises(WriteError, match=r"cannot write \S*absent/x: No such file") as caught:
        write(tmp_path / "absent" / "x", b"")
    assert isinstance(caught.value, UserError) and isinstance(caught.value, OSError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    full = explain_os_error(OSError(errno.ENOSPC, "full"), tmp_path / "x")
    assert "no space left while writing" in str(full) and "MiB free there" in str(full)


def test_a_full_disk_is_named(tmp_path):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    (tmp_path / "x.tmp").symlink_to("/dev/full")
    with pytest.raises(WriteError, match=r"no space left while writing \S*/x "):
        write(tmp_path / "x", b"content")
    assert os.listdir(tmp_path) == []
