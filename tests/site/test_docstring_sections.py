import logging

import pytest

griffe = pytest.importorskip("griffe")
docstring_sections = pytest.importorskip("docstring_sections")

LAYER = '''
"""A module."""

class Layer:
    """A layer.

    Args:
        size: of the output.
        shape: taken from the keyword arguments.

    Call arguments:
        x: (B, D) float,
            of any length.
        mask: (B,) bool.

    Returns:
        The output: (B, D).
    """

    def __init__(self, size: int, **kwargs: object) -> None:
        pass

    def call(self, x: list, mask: list | None = None) -> list:
        """Call it."""


def double(x: int) -> int:
    """Double it.

    Args:
        x: any number.
        y: forgotten.
    """
'''


@pytest.fixture
def module(tmp_path, caplog):
    package = tmp_path / "sample"
    package.mkdir()
    for name, text in (("b", '"B."'), ("a", '"A."'), ("__init__", LAYER)):
        (package / f"{name}.py").write_text(text)
    with caplog.at_level(logging.WARNING):
        return griffe.load(
            "sample",
            search_paths=[tmp_path],
            extensions=griffe.load_extensions(docstring_sections.DocstringSections),
            docstring_parser="google",
            docstring_options={"warn_missing_types": False},
        )


def test_call_arguments_are_arguments(module):
    sections = module["Layer"].docstring.parsed
    assert [section.kind.value for section in sections] == [
        "text",
        "parameters",
        "parameters",
        "returns",
    ]
    x, mask = sections[2].value
    assert (x.name, str(x.annotation)) == ("x", "list")
    assert x.description == "(B, D) float,\nof any length."
    assert (mask.name, str(mask.annotation), mask.default) == ("mask", "list | None", "None")


def test_returns_are_sentences_with_the_type_of_the_call(module):
    (returned,) = module["Layer"].docstring.parsed[3].value
    assert (str(returned.annotation), returned.description) == ("list", "The output: (B, D).")


def test_arguments_that_the_code_lacks_are_warnings(module, caplog):
    (warning,) = caplog.get_records("setup")
    assert "Parameter 'y' does not appear" in warning.getMessage()


def test_call_arguments_that_the_code_lacks_are_warnings(tmp_path, caplog):
    (tmp_path / "wrong.py").write_text(LAYER.replace("        mask: (B,)", "        masks: (B,)"))
    griffe.load(
        "wrong",
        search_paths=[tmp_path],
        extensions=griffe.load_extensions(docstring_sections.DocstringSections),
        docstring_parser="google",
    )
    assert "wrong.Layer.call: no argument 'masks'" in caplog.text


def test_missing_docstrings_are_warnings(tmp_path, caplog):
    code = 'def _hidden(): ...\ndef shown(): ...\nclass C:\n    "C."\n    x = 1'
    (tmp_path / "bare.py").write_text(code)
    griffe.load(
        "bare",
        search_paths=[tmp_path],
        extensions=griffe.load_extensions(docstring_sections.DocstringSections),
    )
    assert [record.getMessage() for record in caplog.records] == [
        "bare: no docstring",
        "bare.shown: no docstring",
    ]


def test_comments_of_fields_are_docstrings(tmp_path):
    code = (
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n"
        "    x: int = 1  # of one side\n    y: str = '#'\n    z: int = 2  # D, the width.\n"
        "class B:\n    x: int = 1  # of no dataclass\n"
    )
    (tmp_path / "fields.py").write_text(code)
    module = griffe.load(
        "fields",
        search_paths=[tmp_path],
        extensions=griffe.load_extensions("dataclasses", docstring_sections.DocstringSections),
    )
    fields = [*module["A"].attributes.values(), *module["B"].attributes.values()]
    found = [field.docstring and field.docstring.value for field in fields]
    assert found == ["Of one side.", None, "D, the width.", None]


def test_names_of_classes_are_links():
    classes = {"Layer": "a.Layer"}
    link = '<autoref identifier="a.Layer" optional>`Layer`</autoref>'
    assert (
        docstring_sections.linked("`Layer`, `Layers`, Layer", classes) == f"{link}, `Layers`, Layer"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("W_q,h and h~, `W_q`, $x_t$", "$W_q,h$ and $h~$, `W_q`, $x_t$"),
        ("of p_value, n_best, a.b_c: (B, d_k)", "of p_value, n_best, a.b_c: (B, $d_k$)"),
        ("At:\n\n    x_t = 1\n      = 2\n\nend", "At:\n\n$$\nx_t = 1\n  = 2\n$$\n\nend"),
        ("At:\n\n```\nx_t\n\n    y\n```\n\n    z", "At:\n\n```\nx_t\n\n    y\n```\n\n$$\nz\n$$\n"),
        ("Args:\n    x: W_o.", "Args:\n    x: $W_o$."),
        (
            "Example:\n    ```python\n    x_t = ~y\n\n    z\n    ```\n\nW_o",
            "Example:\n    ```python\n    x_t = ~y\n\n    z\n    ```\n\n$W_o$",
        ),
    ],
)
def test_equations_and_symbols_are_marked(text, expected):
    assert docstring_sections.with_equations(text) == expected


def test_ambiguous_and_hidden_classes_have_no_links(tmp_path):
    code = "class A: ...\nclass _B: ...\nclass C: ...\nclass D:\n    class A: ..."
    (tmp_path / "two.py").write_text(code)
    module = griffe.load("two", search_paths=[tmp_path])
    assert docstring_sections.paths_of_classes(module) == {"C": "two.C", "D": "two.D"}


def test_modules_are_in_order(module):
    assert [name for name in module.members if name in "ab"] == ["a", "b"]
