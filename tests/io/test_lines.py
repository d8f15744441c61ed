import gzip

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.io.lines import read_lines


def test_only_a_line_feed_ends_a_line(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(
        "\ufeffone\r\ntwo\u2028still two\x0c\x1d\rhere\nthree\ufeff\n\n\ufefffive".encode()
    )
    assert list(read_lines(path)) == [
        "one",
        "two\u2028still two\x0c\x1d\rhere",
        "three\ufeff",
        "",
        "\ufefffive",
    ]


def test_a_byte_order_mark_can_be_kept(tmp_path):
    path = tmp_path / "a"
    path.write_text("\ufeff\ufeffone\n\ufefftwo\n")
    assert list(read_lines(path)) == ["\ufeffone", "\ufefftwo"]
    assert list(read_lines(path, drop_mark=False)) == ["\ufeff\ufeffone", "\ufefftwo"]


def test_invalid_utf8_is_none(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"good\nb\xff\xfe\nfine\n")
    assert list(read_lines(path)) == ["good", None, "fine"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_refused(tmp_path, encoding):
    path = tmp_path / "a"
    path.write_bytes("\ufeffone\ntwo\n".encode(encoding))
    with pytest.raises(UserError, match="a is UTF-16; convert it"):
        list(read_lines(path))


def test_gzip_and_damaged_gzip(tmp_path):
    path = tmp_path / "a.gz"
    content = gzip.compress(b"one\ntwo\n" * 1000)
    path.write_bytes(content)
    assert sum(1 for _ in read_lines(path)) == 2000
    path.write_bytes(content[:-12])
    with pytest.raises(UserError, match=r"a\.gz is damaged after line \d+"):
        list(read_lines(path))
    path.write_bytes(b"no gzip")
    with pytest.raises(UserError, match="damaged"):
        list(read_lines(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"cannot read .*absent: No such file"):
        list(read_lines(tmp_path / "absent"))
