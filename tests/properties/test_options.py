"""Whatever is written after --hparams= and --decode_hparams=, only `HParamsError` is raised."""

import contextlib
import dataclasses
import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from t2t_phrase import registry
from t2t_phrase.config import HParams, HParamsError, parse_assignments
from t2t_phrase.decoding.hparams import DecodeHParams

registry.discover()
# One instance of each class.
SETS: dict[str, HParams] = {"DecodeHParams": DecodeHParams()} | {
    type(made).__name__: made for made in (registry.hparams[name]() for name in registry.hparams)
}
VALUES = st.sampled_from(
    (
        *("", "0", "-1", "1", "2", "1.5", "true", "none", "nan", "-inf", "1e308", "1e400", "٣"),
        *("9" * 30, "9" * 5000, "1_0", " ", "é", "\ud800", "\x00", "x" * 10_000, "[]", "(", "]"),
        *("[1,2", "1,2]", "[[1]]", "[a=1]", "[a=" + "9" * 400 + "]", "[a=nan,a=1]", "adam", "sgd"),
        *("constant*halving", "**", "=", "pre", "0x10", "[1,1,1,1,1,1,1,1]", "[0]", "[-3]"),
    )
) | st.text(max_size=8)


def assignments(hparams: HParams) -> st.SearchStrategy[str]:
    names = [field.name for field in dataclasses.fields(hparams)]
    name = st.sampled_from([*names, "self", "", "nosuch"]) | st.text(max_size=4)
    part = st.tuples(name, st.sampled_from(["=", "=", "=", "==", "", " = "]), VALUES)
    return st.lists(part.map("".join), max_size=3).map(",".join)


@pytest.mark.parametrize("name", SETS)
@given(data=st.data())
def test_overriding_works_or_names_the_fault_in_one_line(name: str, data: st.DataObject) -> None:
    text = data.draw(assignments(SETS[name]))
    try:
        changed = SETS[name].override(text)
    except HParamsError as error:
        assert len(str(error)) < 3000 and "\n" not in str(error)
    else:
        assert type(changed).from_dict(json.loads(changed.to_json())) == changed


@pytest.mark.parametrize(
    "text",
    [
        *("=5", "self=1", "batch_size=", "batch_size", "batch_size=1,batch_size=2", "=", "a==1"),
        *("batch_size=3000000000", "batch_size=nan", "batch_size=1_0", "batch_size=٣"),
        *("hidden_size=1e400", "label_smoothing=inf", "optimizer_options=[a=b", "optimizer=é"),
        *(f"optimizer_options=[a={'9' * n}]" for n in (400, 5000)),
        *("optimizer_options=[weight_decay=nan]", "optimizer_options=[=1]", "num_heads=0"),
    ],
)
def test_mistake(text: str) -> None:
    with pytest.raises(HParamsError) as error:
        SETS["TransformerHParams"].override(text)
    assert len(str(error.value)) < 300


@given(st.text(alphabet="ab=,[]() \n"))
@example("=5")
@example("a=1,a=2")
@example("a=[1,2")
def test_parts_are_the_text(text: str) -> None:
    with contextlib.suppress(HParamsError):
        parsed = parse_assignments(text)
        for name, value in parsed.items():
            assert name and name in text and value in text
        rejoined = ",".join(f"{name}={value}" for name, value in parsed.items())
        assert parse_assignments(rejoined) == parsed


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(), min_size=1), min_size=1))
def test_lists_come_back(values: dict[str, list[int]]) -> None:
    text = ",".join(f"{name}={value}" for name, value in values.items())
    assert {n: json.loads(value) for n, value in parse_assignments(text).items()} == values


@pytest.mark.parametrize("text", ["," * 300_000, "a=[" * 100_000, "a=1," * 100_000, "9" * 300_000])
def test_time_grows_with_the_length(text: str) -> None:
    start = time.process_time()
    with contextlib.suppress(HParamsError):
        DecodeHParams().override(text)
    with contextlib.suppress(HParamsError):
        DecodeHParams().override(f"beam_size={text}")
    assert time.process_time() - start < 3
