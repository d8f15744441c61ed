"""Docstrings name a thing or an action first, errors name what is wrong, and words are plain."""

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("t2t_phrase", "t2t_phrase_grammar", "problems", "hparams", "benchmarks")
# Again, over, up to it, a way to recover; and "with Adam", not "by Adam".
PLAIN = r"\b(anew|afresh|its affair|the way on|goes on where|whoever|by (Adam|Muon))\b"
PATTERNS = {
    "begin with a noun or a verb with an object": r"\A(Return |Yield |Says? )?(what|who|how)\b",
    "name what is wrong": r"^ +\w+Error: (it|they|one) (is|are|do|does|can|cannot)( not)?\.?$",
    "use plain words": PLAIN,
}
DEFINITIONS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def faults(source: str) -> list[tuple[str, str]]:
    """Return (name, rule) for each docstring of a module that breaks a rule."""
    found = []
    for node in ast.walk(ast.parse(source)):
        text = (ast.get_docstring(node) if isinstance(node, DEFINITIONS) else None) or ""
        for rule, pattern in PATTERNS.items():
            if re.search(pattern, text, re.IGNORECASE | re.MULTILINE):
                found.append((getattr(node, "name", "module"), rule))
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_are_plain_english(folder):
    for path in sorted((ROOT / folder).rglob("*.py")):
        assert not faults(path.read_text(encoding="utf-8")), path


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/*.md")), ids=lambda path: path.name
)
def test_documents_use_plain_words(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        assert not re.search(PLAIN, line, re.IGNORECASE), f"{path.name}:{number}"


EXAMPLES = (
    "What a search found.",
    "Return what is kept.",
    "Check.\n\n    Raises:\n        UserError: it is not.",
    "Do it anew.",
)


@pytest.mark.parametrize("text", EXAMPLES)
def test_each_rule_finds_its_pattern(text):
    assert faults(f'"""{text}"""')
