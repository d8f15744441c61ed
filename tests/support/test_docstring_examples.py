"""Wrong comments in the examples of docstrings are found."""

import pytest

from tests.support.docstring_examples import example, run


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
        ("x = ops.ones((1, 2))  # [[1, 1]]", False),
        ("x = ops.ones((1, 2))  # [[1, 2]]", True),
        ("x = 2 / 3  # 0.67", False),
        ("x = 2 / 3  # 0.66", True),
        ("x = 'a' + 'b'  # 'ab'", False),
        ("x = -1  # -1", False),
        ("x = ops.ones(2)  # -1: nothing\ny = ops.ones(2)  # (2,)", False),
        ("x = 1 > 2  # True", True),
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
