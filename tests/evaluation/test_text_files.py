import gzip

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.text_files import (
    check_writable,
    decode_stream,
    read_pairs,
    read_text,
    write_text,
)

RAW = "\ufeffeins\r\n\nzwei\u2028drei\r\n vier".encode()
LINES = ["eins", "", "zwei\u2028drei", " vier"]


def test_files_and_streams_read_alike(tmp_path):
    (tmp_path / "plain").write_bytes(RAW)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(RAW))
    assert read_text(str(tmp_path / "plain")) == LINES
    assert read_text(str(tmp_path / "packed.gz")) == LINES
    assert list(decode_stream(RAW.splitlines(keepends=True), "x")) == LINES


def test_what_is_no_utf8_is_named(tmp_path):
    (tmp_path / "bad").write_bytes(b"a\nb\n\xc3\n")
    with pytest.raises(UserError, match=r"/bad:3: the line is not valid UTF-8"):
        read_text(str(tmp_path / "bad"))
    with pytest.raises(UserError, match="here:2: "):
        list(decode_stream([b"a\n", b"\xff\n"], "here"))


def test_pairs(tmp_path):
    (tmp_path / "pairs").write_text("a b\tc\n\t\nx\t\n")
    assert read_pairs(str(tmp_path / "pairs")) == [("a b", "c"), ("", ""), ("x", "")]
    (tmp_path / "pairs").write_text("a\tb\na\tb\tc\n")
    with pytest.raises(UserError, match=r"pairs:2: 2 tabs; each line must be source<TAB>target"):
        read_pairs(str(tmp_path / "pairs"))


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
    with pytest.raises(UserError, match="cannot write"):
        check_writable(str(tmp_path / "no" / "out"))
    with pytest.raises(UserError, match="is a folder"):
        check_writable(str(tmp_path))
