import dataclasses
import json
from collections.abc import Iterable
from typing import Literal

import pytest

from t2t_phrase.config import (
    HParams,
    HParamsError,
    UserError,
    differences,
    parse_assignments,
    split_at_commas,
)
from tests.support.docstring_examples import example, run


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sizes(HParams):
    hidden_size: int = 8
    num_heads: int = 2
    attention_dropout: float = 0.1
    norm: Literal["pre", "post"] = "pre"
    shared: bool = True
    name: str = "plain"
    orders: tuple[int, ...] = (1, 2)
    rates: tuple[float, ...] = ()
    limit: int | None = None

    def check(self) -> Iterable[str]:
        if self.hidden_size % self.num_heads:
            yield f"hidden_size={self.hidden_size} is not a multiple of {self.num_heads}"
        if self.attention_dropout >= 1:
            yield f"attention_dropout: must be below 1, got {self.attention_dropout}"


def message(text: str) -> str:
    with pytest.raises(HParamsError) as error:
        Sizes().override(text)
    return str(error.value)


def test_override_reads_every_type_in_t2t_spelling() -> None:
    changed = Sizes().override(
        " hidden_size = 16,orders=[3,4, 5],norm=post ,shared=False,name=a*b,limit=7,"
        "attention_dropout=1e-2,rates=(1,.5)"
    )
    assert changed == Sizes(
        hidden_size=16,
        orders=(3, 4, 5),
        norm="post",
        shared=False,
        name="a*b",
        limit=7,
        attention_dropout=0.01,
        rates=(1.0, 0.5),
    )


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("shared=0", "shared", False),
        ("shared=TRUE", "shared", True),
        ("hidden_size=1e2", "hidden_size", 100),
        ("attention_dropout=0", "attention_dropout", 0.0),
        ("limit=none", "limit", None),
        ("orders=[]", "orders", ()),
        ("orders=[7]", "orders", (7,)),
        ("name=1", "name", "1"),
        ("", "name", "plain"),
        ("name=x,", "name", "x"),
    ],
)
def test_override_value(text: str, field: str, expected: object) -> None:
    value = getattr(Sizes().override(text), field)
    assert value == expected
    assert type(value) is type(expected)


def test_all_mistakes_are_reported_at_once_with_the_nearest_name() -> None:
    text = message("num_head=4,attention_dropout=high,norm=pots,orders=[a],shared=maybe,zzzz=1")
    assert text.startswith("Sizes: ")
    assert "num_head: unknown; did you mean num_heads?" in text
    assert "attention_dropout: expected float, got 'high'" in text
    assert "norm: expected one of pre, post, got 'pots'; did you mean post" in text
    assert "orders: expected a list of int, got '[a]'" in text
    assert "shared: expected bool, got 'maybe'" in text
    assert "zzzz: unknown" in text
    assert "zzzz: unknown; did" not in text


def test_all_cross_field_faults_are_reported_at_once() -> None:
    text = message("num_heads=3,attention_dropout=1.5")
    assert "hidden_size=8 is not a multiple of 3" in text
    assert "attention_dropout: must be below 1, got 1.5" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hidden_size", "'hidden_size': expected name=value"),
        ("norm=pre,norm=post", "norm: given twice"),
        ("num_heads=2.5", "num_heads: expected int, got '2.5'"),
        ("num_heads=inf", "num_heads: expected int, got 'inf'"),
        ("attention_dropout=nan", "attention_dropout: expected float, got 'nan'"),
        ("attention_dropout=-inf", "attention_dropout: expected float, got '-inf'"),
        ("limit=x", "limit: expected int or none, got 'x'"),
        ("orders=1", "orders: expected a list of int, got '1'"),
        ("x,y", "'x': expected name=value; 'y': expected name=value"),
    ],
)
def test_message(text: str, expected: str) -> None:
    assert expected in message(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a=[1,(2,3),4],b=5", ["a=[1,(2,3),4]", "b=5"]),
        ("p=[embedding/*,layer_[01]/*],b=5", ["p=[embedding/*,layer_[01]/*]", "b=5"]),
        ("a=[1,b=2", ["a=[1", "b=2"]),
        ("a=1],b=2", ["a=1]", "b=2"]),
    ],
)
def test_brackets_within_brackets(text: str, parts: list[str]) -> None:
    assert split_at_commas(text) == parts


def test_the_constructor_checks_types_and_converts_harmless_ones() -> None:
    with pytest.raises(HParamsError, match="num_heads: expected int, got True"):
        Sizes(num_heads=True)
    with pytest.raises(HParamsError, match="name: expected str, got 3"):
        Sizes(name=3)  # type: ignore[arg-type]
    with pytest.raises(HParamsError, match=r"num_heads: .*; shared: "):
        Sizes(num_heads="x", shared="y")  # type: ignore[arg-type]
    sizes = Sizes(hidden_size=16.0, attention_dropout=0, orders=[1.0, 2])  # type: ignore[arg-type]
    assert (type(sizes.hidden_size), type(sizes.attention_dropout)) == (int, float)
    assert sizes.orders == (1, 2)
    assert [type(order) for order in sizes.orders] == [int, int]
    assert [type(order) for order in Sizes(orders=(1.0, 2)).orders] == [int, int]  # type: ignore[arg-type]


def test_hparams_are_immutable_and_replace_copies() -> None:
    sizes = Sizes()
    with pytest.raises(dataclasses.FrozenInstanceError):
        sizes.num_heads = 4  # type: ignore[misc]
    assert sizes.replace(num_heads=4).num_heads == 4
    assert sizes.num_heads == 2
    assert hash(sizes) == hash(Sizes())


def test_json_round_trip_and_absent_fields() -> None:
    sizes = Sizes(orders=(3,), limit=5, norm="post")
    assert Sizes.from_dict(json.loads(sizes.to_json())) == sizes
    assert list(json.loads(sizes.to_json())) == [f.name for f in dataclasses.fields(Sizes)]
    assert Sizes.from_dict({"num_heads": 4}) == Sizes(num_heads=4)
    with pytest.raises(HParamsError, match="num_haeds: unknown; did you mean num_heads"):
        Sizes.from_dict({"num_haeds": 4})


def test_an_error_is_a_user_error_and_a_value_error() -> None:
    assert issubclass(HParamsError, UserError)
    assert issubclass(UserError, ValueError)


def test_assignments_are_a_string() -> None:
    with pytest.raises(HParamsError, match=r"expected a string such as .*, got \{'a': 1\}"):
        parse_assignments({"a": 1})  # type: ignore[arg-type]


def test_parse_assignments_keeps_lists_together() -> None:
    assert parse_assignments("a=[1,2],b=(3,4),c=5=6") == {"a": "[1,2]", "b": "(3,4)", "c": "5=6"}


def test_differences() -> None:
    old, new = {"a": 1, "b": 2, "d": None}, {"a": 1, "b": 3, "c": None}
    assert differences(old, new) == ["b: 2 -> 3", "c: (absent) -> None", "d: None -> (absent)"]
    assert differences(old, dict(old)) == []


def test_the_example_runs():
    assert run(example(HParams)) == 2
