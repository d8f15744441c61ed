import gzip
import random

import pytest

from t2t_phrase.data.sources.text_size import text_size


def test_sizes_are_those_of_the_text(tmp_path):
    draw = random.Random(0)
    text = " ".join(f"w{draw.randrange(20_000)}" for _ in range(500_000)).encode()
    (tmp_path / "a").write_bytes(text)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text))
    assert text_size(tmp_path / "a") == len(text)
    # Of the first mebibyte; there is more of it.
    assert (tmp_path / "a.gz").stat().st_size > 2**20
    assert text_size(tmp_path / "a.gz") == pytest.approx(len(text), rel=0.05)


def test_what_cannot_be_read_has_no_size(tmp_path):
    (tmp_path / "a.gz").write_bytes(b"not compressed")
    (tmp_path / "b.gz").touch()
    assert [text_size(tmp_path / name) for name in ("a.gz", "b.gz", "c")] == [0, 0, 0]


def test_all_members_of_a_gzipped_file_count(tmp_path):
    member = b"a line of text\n" * 1000
    (tmp_path / "a.gz").write_bytes(gzip.compress(member) * 50)
    assert text_size(tmp_path / "a.gz") == 50 * len(member)
