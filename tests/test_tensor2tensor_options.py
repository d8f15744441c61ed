"""What messages and the guide say of tensor2tensor's names exists, and they say the same."""

import dataclasses
import importlib
import inspect
import pathlib
import re
from collections.abc import Iterator, Mapping

import pytest

from t2t_phrase import registry
from t2t_phrase.bin import COMMANDS
from t2t_phrase.config import HParams, HParamsError, UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.tensor2tensor_options import (
    DECODE_HPARAMS,
    FLAGS,
    HPARAMS,
    HPARAMS_SETS,
    flag_instead,
)

GUIDE = pathlib.Path(__file__).parents[1] / "docs" / "tensor2tensor.md"


@pytest.mark.parametrize(
    ("hparams", "instead"), [(TransformerHParams(), HPARAMS), (DecodeHParams(), DECODE_HPARAMS)]
)
def test_options_are_ours(hparams: HParams, instead: Mapping[str, str]) -> None:
    fields = {field.name for field in dataclasses.fields(hparams)}
    assert fields.isdisjoint(instead)
    for name, use in instead.items():
        # A name with an underscore, or before a value, is an option.
        named = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b|\b\w+(?==)", use))
        assert named and named - {"weight_decay"} <= fields, name
        with pytest.raises(HParamsError, match=rf"{name}: unknown; use {re.escape(use)}"):
            hparams.override(f"{name}=1")


def test_given_values_are_accepted() -> None:
    hparams = TransformerHParams()
    for use in HPARAMS.values():
        for text in use.split(" or "):
            if "=" in text:
                hparams.override(text)


def test_sets_are_ours() -> None:
    registry.discover()
    assert not set(HPARAMS_SETS) & set(registry.hparams)
    for name, use in HPARAMS_SETS.items():
        base, _, override = use.partition(" with --hparams=")
        changed, ours = registry.hparams[base]().override(override), registry.hparams[base]()
        assert changed != ours
        with pytest.raises(UserError, match=rf"{name}' is unknown; use {re.escape(use)}$"):
            registry.hparams[name]


def test_flags_are_ours() -> None:
    known = set(defined_flags())
    for use in FLAGS.values():
        for name in re.findall(r"--(\w+)", use):
            assert name in known
        for name in re.findall(r"t2t-phrase-(\w+)", use):
            assert name in COMMANDS
    assert flag_instead("hp_num_heads") == "--hparams=num_heads=..."
    assert flag_instead("num_heads") == ""


def defined_flags() -> Iterator[str]:
    for module in {*COMMANDS.values(), "t2t_phrase.bin.trainer_flags"}:
        yield from re.findall(
            r'flags\.DEFINE_\w+\(\s*"(\w+)"', inspect.getsource(importlib.import_module(module))
        )


@pytest.mark.parametrize("instead", [FLAGS, HPARAMS, DECODE_HPARAMS])
def test_the_guide_lists_the_same(instead: Mapping[str, str]) -> None:
    rows = [row for row in GUIDE.read_text("utf-8").splitlines() if row.startswith("|")]
    dashes = "--" if instead is FLAGS else ""
    for name, use in instead.items():
        row = next(row for row in rows if f"`{dashes}{name}`" in row)
        assert row.split("|")[2].replace("`", "").strip() == use
