"""--hparams_file in JSON and YAML."""

import json

import pytest

from t2t_phrase.bin.hparams_file import merged
from t2t_phrase.config import UserError
from t2t_phrase.models.transformer_hparams import TransformerHParams

VALUES = {"batch_size": 1024, "attention_dropout": 0.2, "optimizer_options": ["rho=0.5"]}


def test_json(tmp_path):
    path = tmp_path / "h.json"
    path.write_text(json.dumps(VALUES))
    text = merged(str(path), "batch_size=2048")
    found = TransformerHParams().replace(optimizer="adadelta").override(text)
    assert (found.batch_size, found.attention_dropout) == (2048, 0.2)
    assert found.optimizer_options == ("rho=0.5",)
    assert merged("", "a=1") == "a=1"


def test_yaml(tmp_path):
    pytest.importorskip("yaml")
    path = tmp_path / "h.yaml"
    path.write_text("batch_size: 1024\nshared_embedding_and_softmax_weights: false\n")
    assert merged(str(path), "") == "batch_size=1024,shared_embedding_and_softmax_weights=false"


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    path = tmp_path / "h.json"
    path.write_text('{"batch_size": 1024}\r\n', encoding="utf-8-sig")
    assert merged(str(path), "") == "batch_size=1024"


@pytest.mark.parametrize("content", ["[1]", "{", '{"a": ', '{"a": 1, "a": 2}'])
def test_mistakes(tmp_path, content):
    path = tmp_path / "h.json"
    path.write_text(content)
    with pytest.raises(UserError, match="--hparams_file="):
        merged(str(path), "")
    with pytest.raises(UserError, match="--hparams_file="):
        merged(str(tmp_path / "missing.json"), "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("batch_size: 1024\nhidden_size: 64\nbatch_size: 4096\n", "gives 'batch_size' twice"),
        ("optimizer_options:\n  use_ema: true\n", "optimizer_options is an object; give one value"),
        ("optimizer_options:\n  - use_ema: true\n", "optimizer_options is an object"),
        ("- a\n", "expected names with values"),
    ],
)
def test_ambiguous_yaml(tmp_path, content, message):
    pytest.importorskip("yaml")
    path = tmp_path / "h.yaml"
    path.write_text(content)
    with pytest.raises(UserError, match=f"--hparams_file={path}:? {message}"):
        merged(str(path), "")


def test_objects_in_json(tmp_path):
    path = tmp_path / "h.json"
    path.write_text('{"optimizer_options": {"use_ema": true}}')
    with pytest.raises(UserError, match="optimizer_options is an object; give one value or a list"):
        merged(str(path), "")
