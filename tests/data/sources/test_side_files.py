import gzip
import pathlib

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.side_files import count_mismatch, find_side_files
from t2t_phrase.features import ALIGNMENT


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("a.src.trees", "t2t-phrase-parse --parser=... --input_file={} --output_file={}"),
        ("a.tgt.align", "t2t-phrase-align --source=... --target={} --output_file={}"),
        ("a.src.cases", ""),
    ],
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_the_command_that_makes_a_file_again_writes_text(tmp_path, name, hint, ending):
    side = tmp_path / f"{name}{ending}"
    with (gzip.open if ending else open)(side, "wt") as file:
        file.write("1\n")
    text = pathlib.Path("a")
    expected = f"{side} has 1 line, but a has 2 sentences"
    if hint:
        expected += "; recreate it: " + hint.format(text, tmp_path / name)
        expected += f", and delete {side}" if ending else ""
    assert str(count_mismatch(text, side, 2)) == expected


def test_only_one_of_a_file_and_its_compressed_form_may_exist(tmp_path):
    files = {"train": [[tmp_path / "train.src", tmp_path / "train.tgt"]]}
    side = tmp_path / "train.tgt.align"
    side.write_text("0-0\n")
    assert find_side_files(files, [ALIGNMENT]) == {"target.align": {files["train"][0][1]: side}}
    (tmp_path / "train.tgt.align.gz").write_bytes(b"")
    with pytest.raises(UserError, match=r"align and \S*align.gz: only one of them may exist"):
        find_side_files(files, [ALIGNMENT])
