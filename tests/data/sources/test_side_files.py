import gzip
import pathlib

import pytest

from t2t_phrase.data.sources.side_files import count_mismatch


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
