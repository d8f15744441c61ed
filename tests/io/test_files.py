import errno
import os
import pathlib
import pickle
import re
import stat
import threading

import pytest

import t2t_phrase
from t2t_phrase.config import UserError
from t2t_phrase.io.files import (
    WriteError,
    atomic,
    expanded,
    explain_os_error,
    is_special,
    reason_of,
    refuse_inputs,
    sha256_of,
    write,
)
from t2t_phrase.io.text_files import check_writable, count_lines, read_text, write_text


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


def test_a_link_to_nothing_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to("new")
    write(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "new").read_bytes() == b"content"
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(WriteError, match="Too many levels of symbolic links"):
        write(tmp_path / "circle", b"content")
    assert (tmp_path / "circle").is_symlink()


def test_the_mode_of_a_file_is_kept(tmp_path):
    (tmp_path / "x").touch()
    for mode in (0o600, 0o664, 0o755):
        (tmp_path / "x").chmod(mode)
        write(tmp_path / "x", b"new")
        assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode


def test_a_protected_file_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"old")
    # Root may write everything.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(WriteError, match="Permission denied"):
        write(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"old" and os.listdir(tmp_path) == ["x"]


def test_a_file_is_never_written_to_a_folder(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(WriteError, match="Is a directory"):
        write(tmp_path / "x", b"content")
    assert os.listdir(tmp_path) == ["x"]


def test_the_next_write_replaces_what_a_kill_left(tmp_path):
    (tmp_path / "x.tmp").write_bytes(b"half")
    write(tmp_path / "x", b"whole")
    assert os.listdir(tmp_path) == ["x"] and (tmp_path / "x").read_bytes() == b"whole"


def test_a_second_process_that_writes_the_file_is_refused(tmp_path):
    with atomic(tmp_path / "x") as temporary:
        temporary.write_bytes(b"first")
        with pytest.raises(UserError, match=r"another process is writing \S*/x; wait until"):
            write(tmp_path / "x", b"second")
    assert os.listdir(tmp_path) == ["x"] and (tmp_path / "x").read_bytes() == b"first"
    write(tmp_path / "x", b"third")
    assert (tmp_path / "x").read_bytes() == b"third"


class TestSpecialFiles:
    def test_a_pipe_is_written_to(self, tmp_path):
        pipe, read = tmp_path / "pipe", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
        reader.start()
        write(pipe, b"content" * 50_000)
        reader.join()
        assert read == [b"content" * 50_000] and pipe.is_fifo()

    def test_devices_stay_devices(self, tmp_path):
        (tmp_path / "link").symlink_to("/dev/null")
        for path in ("/dev/null", tmp_path / "link"):
            write(path, b"content")
            assert is_special(path) and stat.S_ISCHR(os.stat(path).st_mode)
        with pytest.raises(
            WriteError, match="no space left while writing /dev/full, which is incomp"
        ):
            write("/dev/full", b"content")
        assert os.listdir(tmp_path) == ["link"]

    def test_what_a_shell_redirects_is_not_replaced(self, tmp_path):
        (tmp_path / "out").write_bytes(b"before ")
        with open(tmp_path / "out", "ab") as file:
            link = tmp_path / "link"
            link.symlink_to(f"/dev/fd/{file.fileno()}")
            for path in (f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}", link):
                write(path, b"content ")
            assert os.path.samestat(os.fstat(file.fileno()), os.stat(tmp_path / "out"))
        assert (tmp_path / "out").read_bytes() == b"before " + 3 * b"content "

    def test_after_an_error_nothing_is_written(self, tmp_path):
        number = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
        with pytest.raises(KeyError), atomic(f"/dev/fd/{number}") as temporary:
            temporary.write_bytes(b"half")
            raise KeyError
        os.close(number)
        assert (tmp_path / "out").read_bytes() == b""

    def test_a_closed_pipe_is_no_mistake_of_the_user(self):
        read, write_end = os.pipe()
        os.close(read)
        with pytest.raises(BrokenPipeError):
            write(f"/dev/fd/{write_end}", b"content")
        os.close(write_end)


def test_an_output_is_no_input_under_any_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in", "out.part", "free.x"):
        (tmp_path / name).touch()
    os.link("in", "hard")
    os.symlink("in", "soft")
    for output in ("in", "./in", f"{tmp_path}/in", "hard", "soft"):
        with pytest.raises(
            UserError, match=rf"{output} would overwrite the input in; give another"
        ):
            refuse_inputs(output, ["free.x", "in"])
    with pytest.raises(UserError, match=r"would overwrite the input out\.part"):
        refuse_inputs("out", ["out.part"])
    os.mkfifo("pipe")
    with pytest.raises(UserError, match="would overwrite the input pipe"):
        refuse_inputs("pipe", ["pipe"])
    refuse_inputs("free", ["in", "out.part", "absent", None])
    refuse_inputs("/dev/null", ["/dev/null"])
    status = os.stat("in")
    monkeypatch.setattr("t2t_phrase.io.files._status", lambda file: status)
    with pytest.raises(UserError, match="standard output would overwrite the input in;"):
        refuse_inputs(None, ["in"])
    with pytest.raises(UserError, match="x would overwrite the input on standard input;"):
        refuse_inputs("x", [None])


def test_names_with_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "x", b"a\n")
    assert sha256_of("~/x") == sha256_of(tmp_path / "x")
    # Not the folder of a user, since there is none of this name.
    monkeypatch.chdir(tmp_path)
    check_writable("~draft.en")
    write_text("~draft.en", ["a"])
    assert (tmp_path / "~draft.en").exists() and read_text("~draft.en") == ["a"]
    assert count_lines("~draft.en") == 1 and not is_special("~draft.en")
    with pytest.raises(UserError, match="would overwrite the input"):
        refuse_inputs("~draft.en", ["~draft.en"])


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


class TensorFlowError(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.message = message


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.EIO, "Input/output error", "/x"), "Input/output error"),
        (OSError(errno.EFBIG, os.strerror(errno.EFBIG)), r"larger than .* \(ulimit\)"),
        (TensorFlowError("/x; No space left on device"), "No space left on device"),
        (TensorFlowError("{{node a}} /x; File too large [Op:SaveV2]\nmore"), r"\(ulimit\)"),
        (TensorFlowError("something else"), "something else"),
        (ValueError(), "ValueError"),
    ],
)
def test_reasons_have_no_names_of_nodes(error, reason):
    found = reason_of(error)
    assert re.search(f"{reason}$", found) and "{" not in found


def test_a_full_disk_is_named(tmp_path):
    if not pathlib.Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    (tmp_path / "x.tmp").symlink_to("/dev/full")
    with pytest.raises(WriteError, match=r"no space left while writing \S*/x "):
        write(tmp_path / "x", b"content")
    assert os.listdir(tmp_path) == []


def test_the_home_of_an_unknown_user_stays_as_it_is(monkeypatch):
    monkeypatch.setenv("HOME", "/at/home")
    assert expanded("~/run") == pathlib.Path("/at/home/run")
    assert expanded("~nobody-here/run") == pathlib.Path("~nobody-here/run")


def test_pathlib_which_raises_for_such_a_user_expands_nothing():
    package = pathlib.Path(t2t_phrase.__file__).parent
    assert not [path for path in package.rglob("*.py") if ".expanduser()" in path.read_text()]
