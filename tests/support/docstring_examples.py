"""The `Example:` of a docstring, which runs, and whose results are as its comments state."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any

import keras
import numpy as np

import t2t_phrase

EXAMPLE = re.compile(r"^Example:\n    ```python\n((?:    .*\n|\n)+?)    ```$", re.MULTILINE)
# A comment that states shapes in parentheses, or a value.
STATED = re.compile(r"""  # ([(\['"].*|-?[\d.]+|True|False)$""")


def example(documented: Any) -> str | None:
    """Return the code of the example in an object's own docstring, or None."""
    found = EXAMPLE.findall(inspect.cleandoc(documented.__doc__ or ""))
    assert len(found) <= 1
    return textwrap.dedent(found[0]).strip("\n") if found else None


def run(code: str, **names: Any) -> int:
    """Run an example; return the number of comments with shapes or values, all of them right.

    Args:
        code: the example.
        **names: what it may use, in addition to `keras`, `ops`, `np` and `t2t_phrase`.
    """
    lines = code.splitlines()
    checked = set()

    def check(number: int, value: Any) -> None:
        line = lines[number - 1]
        expected = ast.literal_eval(STATED.search(line)[1])
        found = shapes(value) if isinstance(expected, tuple) else plain(value)
        if isinstance(expected, tuple) and expected[-1] is ...:  # Further results.
            expected, found = expected[:-1], found[: len(expected) - 1]
        assert found == expected, line
        checked.add(number)

    class Checks(ast.NodeTransformer):
        """Adds a call of `check` behind each assignment that ends with a comment."""

        def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
            number = node.end_lineno
            if not STATED.search(lines[number - 1]):
                return [node]
            value = ast.unparse(node.targets[0])
            return [node, *ast.parse(f"_check({number}, {value})").body]

    tree = ast.fix_missing_locations(Checks().visit(ast.parse(code)))
    known = {"keras": keras, "ops": keras.ops, "np": np, "t2t_phrase": t2t_phrase}
    exec(compile(tree, "<example>", "exec"), {**known, **names, "_check": check})
    assert checked == {n for n, line in enumerate(lines, start=1) if STATED.search(line)}
    return len(checked)


def shapes(value: Any) -> Any:
    """Return the shape of an array, or a tuple of those of several."""
    if isinstance(value, tuple | list):
        return tuple(map(shapes, value))
    return tuple(value.shape) if hasattr(value, "shape") else type(value)


def plain(value: Any) -> Any:
    """Return an array as nested lists, floats with two decimals, and other values as they are."""
    value = np.asarray(value).tolist() if hasattr(value, "shape") else value
    if isinstance(value, list):
        return [plain(each) for each in value]
    return round(value, 2) if isinstance(value, float) else value
