import gzip
import io
import os
import socket

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.io.text_files import (
    check_writable,
    count_lines,
    read_text,
    split_pair,
    stream_text,
    write_text,
)

RAW = "\ufeffeins\r\n\nzwei\u2028drei\r\n vier".encode()
LINES = ["eins", "", "zwei\u2028drei", " vier"]


def test_files_and_streams_read_alike(tmp_path, monkeypatch):
    (tmp_path / "plain").write_bytes(RAW)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(RAW))
    assert read_text(str(tmp_path / "plain")) == LINES
    assert read_text(str(tmp_path / "packed.gz")) == LINES
    for name in ("plain", "packed.gz"):
        assert list(stream_text(str(tmp_path / name))) == LINES
        assert count_lines(str(tmp_path / name)) == 4
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RAW)))
    assert list(stream_text(None)) == LINES and count_lines(None) is None


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"a", b"a\r", b"\r\n\r\n", b"\0\n\0", b"\xef\xbb\xbf"]
)
def test_odd_files_read_alike(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    assert list(stream_text(str(tmp_path / "x"))) == read_text(str(tmp_path / "x"))


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("more", range(-2, 9))
@pytest.mark.parametrize("letter", ["x", "日"])
def test_a_monstrous_line_is_cut_and_named(tmp_path, monkeypatch, letter, more, bom):
    monkeypatch.setattr("t2t_phrase.io.text_files.LONGEST_LINE", 32)
    told, size = [], len(letter.encode())
    long = (letter * 32).encode()[: 32 // size * size] + b"y" * (32 % size + more)
    (tmp_path / "x").write_bytes(bom + long + b"\r\n" + letter.encode() * 5000 + b"\nlast")
    first, second, last = stream_text(str(tmp_path / "x"), note=told.append)
    assert first == long[:32].decode() and last == "last"
    assert second == letter * (32 // size)
    assert told == [
        f"{tmp_path / 'x'}:{number}: the line is cut to its first 32 bytes"
        for number in ((1, 2) if more > 0 else (2,))
    ]


def test_damage_and_absence_are_named(tmp_path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(RAW * 100)[:-9])
    with pytest.raises(UserError, match=r"x\.gz is damaged: "):
        list(stream_text(str(tmp_path / "x.gz")))
    with pytest.raises(UserError, match=r"cannot read .*absent: No such file"):
        count_lines(str(tmp_path / "absent"))
    with pytest.raises(UserError, match=r"cannot read .*: Is a directory"):
        count_lines(str(tmp_path))


def test_what_can_be_read_once_is_not_counted(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert count_lines(str(tmp_path / "pipe")) is None and count_lines("/dev/null") is None


def test_what_is_no_utf8_is_named(tmp_path, monkeypatch):
    (tmp_path / "bad").write_bytes(b"a\nb\n\xc3\n")
    with pytest.raises(UserError, match=r"/bad:3: the line is not valid UTF-8"):
        read_text(str(tmp_path / "bad"))
    stream = stream_text(str(tmp_path / "bad"))
    assert [next(stream), next(stream)] == ["a", "b"]
    with pytest.raises(UserError, match="/bad:3: "):
        next(stream)
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UserError, match="standard input is closed"):
        list(stream_text(None))


def test_pairs():
    for line, pair in {"a b\tc": ("a b", "c"), "\t": ("", ""), "x\t": ("x", "")}.items():
        assert split_pair(line, "pairs", 1) == pair
    with pytest.raises(UserError, match=r"pairs:2: 2 tabs; each line must be source<TAB>target"):
        split_pair("a\tb\tc", "pairs", 2)


def test_writing_is_all_or_nothing(tmp_path):
    target = tmp_path / "out"
    write_text(str(target), ["ä", ""])
    assert target.read_bytes() == "ä\n\n".encode()
    with pytest.raises(UnicodeEncodeError):
        write_text(str(target), ["good", "\ud800"])
    assert target.read_bytes() == "ä\n\n".encode()


def test_what_cannot_be_written_is_known_at_once(tmp_path):
    check_writable(str(tmp_path / "new"))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UserError, match=r"cannot write"):
        check_writable(str(tmp_path / "no" / "out"))
    with pytest.raises(UserError, match="is a folder"):
        check_writable(str(tmp_path))
    with pytest.raises(UserError, match="is a folder"):
        check_writable(f"{tmp_path}/new/")
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot write .*: Not a directory"):
        check_writable(str(tmp_path / "file" / "below"))
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(UserError, match=r"cannot write .*: Too many levels of symbolic links"):
        check_writable(str(tmp_path / "circle"))
    (tmp_path / "dangling").symlink_to("no/out")
    with pytest.raises(UserError, match=r"cannot write .*dangling: No such file"):
        check_writable(str(tmp_path / "dangling"))


def test_checking_leaves_everything_as_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "x").write_text("old")
    (tmp_path / "x.tmp").write_text("being written by another process")
    (tmp_path / "link").symlink_to("x")
    for name in ("pipe", "x", "link"):
        check_writable(str(tmp_path / name))
    for name in ("/dev/null", "/dev/full", "/dev/stdout", "/dev/fd/1"):
        check_writable(name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "pipe", "x", "x.tmp"]
    assert (tmp_path / "x.tmp").read_text() == "being written by another process"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with pytest.raises(UserError, match="it is a socket"):
            check_writable(str(tmp_path / "socket"))


def test_a_protected_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / "x").touch()
    # Root may write everything.
    monkeypatch.setattr("os.access", lambda path, mode: not path.exists())
    check_writable(str(tmp_path / "new"))
    with pytest.raises(UserError, match="Permission denied"):
        check_writable(str(tmp_path / "x"))
