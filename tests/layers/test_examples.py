"""The example of every layer runs, and results have the shapes that its comments state."""

import ast
import inspect
import re
from typing import Any

import keras
import numpy as np
import pytest

import t2t_phrase

EXAMPLE = re.compile(r"^Example:\n    ```python\n((?:    .*\n|\n)+?)    ```$", re.MULTILINE)
SHAPES = re.compile(r"  # (\(.*)$")
LAYERS = {
    name: layer
    for name in dir(t2t_phrase.layers)
    if isinstance(layer := getattr(t2t_phrase.layers, name), type)
    and issubclass(layer, keras.Layer)
}
# Layers without an example.
REASONS = {
    "AttentionalVector": "base class",
    "LocalAttention": "base class",
    "NgramAttention": "base class",
    "NgramDistances": "part of an n-gram attention, cannot be called",
    "Score": "base class",
}


def example(layer: type) -> str | None:
    """Return the code of the example in a layer's own docstring, or None."""
    found = EXAMPLE.findall(inspect.cleandoc(layer.__doc__ or ""))
    assert len(found) <= 1
    return inspect.cleandoc(found[0]) if found else None


def run(code: str) -> int:
    """Run an example; return the number of comments with shapes, all of which were right."""
    lines = code.splitlines()
    checked = set()

    def check(number: int, value: Any) -> None:
        line = lines[number - 1]
        expected = ast.literal_eval(SHAPES.search(line)[1])
        found = shapes(value)
        if expected[-1] is ...:  # Further results.
            expected, found = expected[:-1], found[: len(expected) - 1]
        assert found == expected, line
        checked.add(number)

    class Checks(ast.NodeTransformer):
        """Adds a call of `check` behind each assignment that ends with a comment."""

        def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
            number = node.end_lineno
            if not SHAPES.search(lines[number - 1]):
                return [node]
            value = ast.unparse(node.targets[0])
            return [node, *ast.parse(f"_check({number}, {value})").body]

    tree = ast.fix_missing_locations(Checks().visit(ast.parse(code)))
    names = {"keras": keras, "ops": keras.ops, "np": np, "t2t_phrase": t2t_phrase, "_check": check}
    exec(compile(tree, "<example>", "exec"), names)
    assert checked == {n for n, line in enumerate(lines, start=1) if SHAPES.search(line)}
    return len(checked)


def shapes(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(shapes, value))
    return tuple(value.shape) if hasattr(value, "shape") else type(value)


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_examples_state_shapes(name):
    code = example(LAYERS[name])
    if name in REASONS:
        assert code is None
        return
    assert code, "no example"
    assert run(code)


def test_layers_without_examples_exist():
    assert set(REASONS) <= set(LAYERS)


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("x = ops.ones((2, 3))  # (2, 3)", False),
        ("x = ops.ones((2, 3))  # (3, 2)", True),
        ("x, (y, z) = ops.ones(2), (ops.ones(3), ops.ones(4))  # (2,), ((3,), (4,))", False),
        ("x, (y, z) = ops.ones(2), (ops.ones(3), ops.ones(4))  # (2,), ((3,), (5,))", True),
        ("x, *y = ops.ones(2), ops.ones(3), {}  # (2,), ...", False),
        ("x, *y = ops.ones(2), ops.ones(3), {}  # (2,), (3,)", True),
        ("for i in range(3):\n    x = ops.ones(3 - i)  # (3,)", True),
        ("for i in range(3):\n    x = ops.ones(\n        3\n    )  # (3,)\n    x = i", False),
        ("ops.ones(2)  # (2,)", True),
        ("if False:\n    x = ops.ones(2)  # (2,)", True),
    ],
)
def test_wrong_comments_are_found(code, wrong):
    if not wrong:
        assert run(code) == 1
        return
    with pytest.raises(AssertionError):
        run(code)


def test_only_own_examples_count():
    class Parent:
        """A layer.

        Example:
            ```python
            x = 1

            y = 2
            ```
        """

    class Child(Parent):
        pass

    assert example(Parent) == "x = 1\n\ny = 2"
    assert example(Child) is None
