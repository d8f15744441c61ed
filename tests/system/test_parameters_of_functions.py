"""No public function takes so many arguments that a reader loses count."""

import ast
import pathlib

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "t2t_phrase"
MOST = 8


def crowded(source: str) -> list[str]:
    """Return the public functions with more parameters; constructors of layers are theirs."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            names = [
                a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            ]
            if len([name for name in names if name not in ("self", "cls")]) > MOST:
                found.append(node.name)
    return found


def test_public_functions_have_few_parameters():
    found = {path.name: crowded(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    assert {name: functions for name, functions in found.items() if functions} == {}


def test_crowded_functions_are_found():
    assert crowded("def f(self, a, b, c, d, *, e, f, g, h): ...") == []
    assert crowded("def f(self, a, b, c, d, *, e, f, g, h, i): ...") == ["f"]
