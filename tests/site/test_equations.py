"""The chapter of equations has every row of ARCHITECTURE's table "From equation to file"."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHAPTER = (ROOT / "docs/equations.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| (.+ \(\d{4}\)) \| (.+) \| `(.+)` \|$", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.M
)


def test_every_equation_is_typeset_with_its_file():
    sections = re.split(r"^#+ ", CHAPTER, flags=re.M)[1:]
    for paper, place, file in ROWS:
        (section,) = [
            text
            for text in sections
            if text.startswith(f"{paper}, {place}:") and f"(../t2t_phrase/{file})" in text
        ]
        assert "\n$$\n" in section


def test_the_table_has_rows():
    assert len(ROWS) > 20
