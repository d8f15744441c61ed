import logging
import pathlib
import re

import pytest

pytest.importorskip("mkdocs")
typeset = pytest.importorskip("typeset")

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHAPTERS = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]


def equations(path):
    text = re.sub(r"^```.*?^```$|`[^`\n]+`", "", path.read_text("utf-8"), flags=re.M | re.S)
    blocks = re.findall(r"^\$\$\n(.*?)\n\$\$$", text, re.M | re.S)
    inline = re.findall(r"\$([^$\n]+)\$", re.sub(r"^\$\$\n.*?\n\$\$$", "", text, flags=re.M | re.S))
    return blocks + inline


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_equation_is_known(path, caplog):
    for equation in equations(path):
        typeset.mathml(equation, "block")
    assert not caplog.records


def test_chapters_have_equations():
    assert sum(len(equations(path)) > 3 for path in CHAPTERS) >= 6


def test_an_unknown_command_is_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        typeset.mathml(r"\sofmax x", "inline")
    assert r"\sofmax is unknown" in caplog.text


def test_marked_equations_become_mathml():
    page = (
        r'<p>a <span class="arithmatex">\(x \lt y\)</span></p>'
        '\n<div class="arithmatex">\\[\ny \\&amp; z\n\\]</div>'
    )
    made = typeset.typeset(page)
    assert made.count("<math ") == 2 and "arithmatex" not in made
    assert 'display="inline"' in made and 'display="block"' in made
    assert "amp;amp" not in made


def test_brackets_of_lists_have_spaces():
    made = typeset.mathml("[a; b] + \\log p", "inline")
    assert '<mo separator="true">;</mo>' in made
    assert '<mi>log</mi><mspace width="0.167em"/><mi>p</mi>' in made


def test_equations_of_docstrings_are_plain(caplog):
    page = (
        '<span class="arithmatex">\\(a_&lt;i\\)</span><div class="arithmatex">\\[\nx / y\n\\]</div>'
    )
    made = typeset.typeset(page, plain=True)
    assert "<msub><mi>a</mi>" in made and "<mfrac>" in made
    assert not caplog.records


def test_an_unknown_sign_in_a_docstring_is_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        typeset.typeset('<span class="arithmatex">\\(a % b\\)</span>', plain=True)
    assert "'% b' is unknown in the equation a % b" in caplog.text
