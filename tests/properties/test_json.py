"""JSON of contrastive pairs and facts: read, or refused by a sentence that names the file."""

import contextlib
import json
import pathlib
import tempfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.contrastive import ContrastiveSet, read_lingeval
from t2t_phrase.evaluation.phenomena import read_facts
from t2t_phrase.io.strict_json import parse_json

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
TEXTS = st.text(max_size=5)
DISTANCES = st.integers(-2, 40) | st.sampled_from(["3", "x", True, 1.5, None, float("inf"), [1]])
ERRORS = st.fixed_dictionaries(
    {"type": TEXTS | VALUES, "contrastive": TEXTS}, optional={"distance": DISTANCES}
)
ENTRIES = st.fixed_dictionaries(
    {"source": TEXTS, "reference": TEXTS | st.none(), "errors": st.lists(ERRORS | VALUES)}
)
RENDERINGS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["idiom", "compound"]) | VALUES,
        "citation": TEXTS | VALUES,
        "words": st.lists(TEXTS | VALUES) | VALUES,
    }
)
FACTS = st.fixed_dictionaries({"renderings": st.lists(RENDERINGS) | VALUES})
GOOD = {"source": "a", "reference": "b", "errors": [{"type": "t", "contrastive": "c"}]}


def read(content: bytes, reader: Any = read_lingeval) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "pairs.json")
        path.write_bytes(content)
        try:
            return reader(str(path))
        except UserError as error:
            assert "pairs.json" in str(error)
            assert len(str(error).replace(folder, "")) < 300
            raise


@given(st.lists(ENTRIES | VALUES) | VALUES, st.booleans())
def test_any_json_is_pairs_or_refused(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    with contextlib.suppress(UserError):
        found = read(text.encode(errors="surrogatepass"))
        assert isinstance(found, ContrastiveSet)
        "".join(pair.source + pair.reference + pair.kind for pair in found.pairs).encode()


@given(st.lists(FACTS | VALUES, max_size=4))
def test_any_json_is_facts_or_refused(values: list[Any]) -> None:
    with contextlib.suppress(UserError):
        for renderings in read("".join(f"{json.dumps(v)}\n" for v in values).encode(), read_facts):
            assert all(isinstance(word, str) for item in renderings for word in item.words)


@given(st.binary(max_size=40), st.integers(0, 80))
def test_damaged_bytes_are_refused_or_read(noise: bytes, at: int) -> None:
    content = json.dumps([GOOD]).encode()
    with contextlib.suppress(UserError):
        read(content[:at] + noise + content[at + len(noise) :])


@given(VALUES.filter(lambda value: "NaN" not in json.dumps(value)))
def test_what_json_can_say_comes_back(value: Any) -> None:
    text = json.dumps(value)
    if "Infinity" not in text and "\\ud" not in text:
        assert parse_json(text, "x") == value


PAIR = json.dumps(GOOD)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[Infinity]", "Infinity is not a JSON number"),
        ("[-Infinity]", "-Infinity is not a JSON number"),
        ("[NaN]", "NaN is not a JSON number"),
        ("9" * 5000, "not valid JSON: Exceeds the limit"),
        (f"[{PAIR}", "not valid JSON: Expecting"),
        (f"[{PAIR}] x", "not valid JSON: Extra data"),
        ("[" + PAIR[:-1] + ', "source": "z"}]', "an object gives 'source' twice"),
        ("[" + PAIR.replace('"a"', r'"\ud800"') + "]", r"\\ud800 alone is only half"),
        ("[" + PAIR.replace('"t"', '"t", "distance": 1e5') + "]", "entry 1, error 1: distance"),
        ("[" + PAIR.replace('"t"', '"t", "distance": true') + "]", "error 1: distance True"),
        ("[]", "contains no contrastive translations"),
        ("{}", "expected a list of entries"),
        ('[{"source": 1}]', "entry 1: expected a string for 'source'"),
    ],
)
def test_mistake(text: str, expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        read(text.encode())


def test_bytes_that_are_not_utf8_are_named_by_their_line() -> None:
    with pytest.raises(UserError, match=r"pairs\.json:2: the line is not valid UTF-8"):
        read(b"[\n\xff]")


def test_a_byte_order_mark_and_characters_of_two_escapes_are_read() -> None:
    text = PAIR.replace('"a"', '"\\ud83d\\ude00"')
    assert read(b"\xef\xbb\xbf" + f"[{text}]".encode()).sources == ["\U0001f600"]
