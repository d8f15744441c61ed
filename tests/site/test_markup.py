"""Nothing in docstrings and chapters is taken for a tag of HTML, which would not be shown."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("t2t_phrase", "problems", "hparams")
DEFINITIONS = ast.Module | ast.ClassDef | ast.FunctionDef
# Fenced and indented blocks, code in a line, and equations.
LITERAL = r"^```.*?^```$|(?<=\n\n)(?: {4,}.*\n|\n)+|`[^`]+`|\$\$.*?\$\$|\$[^$\n]+\$"
TAG = r"</?[A-Za-z][\w-]*/?>"


def tags(text):
    found = re.findall(TAG, re.sub(LITERAL, "", text, flags=re.M | re.S))
    return [tag for tag in found if tag.strip("</>") != "code"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_have_no_tags(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            text = isinstance(node, DEFINITIONS) and ast.get_docstring(node)
            assert not tags(text or ""), (path.name, getattr(node, "name", "module"))


@pytest.mark.parametrize(
    "path", [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))], ids=lambda p: p.stem
)
def test_chapters_have_no_tags(path):
    assert not tags(path.read_text("utf-8"))


@pytest.mark.parametrize("text", ["a <TAB> b", "Returns:\n    a <unk> b", "x\n```\n<a>\n```\n<b>"])
def test_tags_are_found(text):
    assert len(tags(text)) == 1


@pytest.mark.parametrize("text", ["`a<TAB>b`", "x:\n\n    <TAB>\n\ny", "a < b > c", "$a <b> c$"])
def test_code_is_no_tag(text):
    assert not tags(text)
