"""Checkpoints without TensorFlow are those that TensorFlow reads and writes."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.runs.object_graph import KEY, key_of, object_graph
from t2t_phrase.runs.tensor_bundle import BundleReader, write_bundle

RANDOM = np.random.default_rng(0)
TENSORS: dict[str, Any] = {
    **{f"model/layer_{n}.Skernel": RANDOM.normal(size=(n % 7, 3)).astype("f4") for n in range(90)},
    "optimizer/iterations": np.array(5, np.int64),
    "flags": np.array([[True], [False]]),
    "half": RANDOM.normal(size=5).astype("f2"),
    "state": b'{"position": 1}' * 20,
    "none": b"",
}


def assert_holds(reader: Any, tensors: dict[str, Any]) -> None:
    shapes = {key: tuple(shape) for key, shape in reader.get_variable_to_shape_map().items()}
    assert shapes == {key: np.shape(value) for key, value in tensors.items()}
    for key, value in tensors.items():
        found = reader.get_tensor(key)
        if isinstance(value, bytes):
            assert found == value
        else:
            assert found.dtype == value.dtype
            np.testing.assert_array_equal(found, value)


def test_tensorflow_reads_what_is_written(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "bundle")
    write_bundle(path, TENSORS)
    assert_holds(tf.train.load_checkpoint(path), TENSORS)
    assert_holds(BundleReader(path), TENSORS)


def test_blocks_are_found_by_the_index_of_an_index(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("t2t_phrase.runs.sorted_table._BLOCK", 100)
    path = str(tmp_path / "bundle")
    write_bundle(path, TENSORS)
    assert_holds(tf.train.load_checkpoint(path), TENSORS)
    assert_holds(BundleReader(path), TENSORS)


def test_what_tensorflow_writes_is_read(tmp_path: pathlib.Path) -> None:
    narrow = tf.Variable(tf.constant([1.5, -3.0], tf.bfloat16))
    numbers = {f"{n}": tf.Variable(RANDOM.normal(size=(n, 2)).astype("f4")) for n in range(1, 99)}
    checkpoint = tf.train.Checkpoint(narrow=narrow, text=tf.Variable("x" * 300), numbers=numbers)
    path = checkpoint.write(str(tmp_path / "checkpoint"))
    expected = tf.train.load_checkpoint(path)
    reader = BundleReader(path)
    assert set(reader.get_variable_to_shape_map()) == set(expected.get_variable_to_shape_map())
    for key in reader.get_variable_to_shape_map():
        np.testing.assert_array_equal(reader.get_tensor(key), expected.get_tensor(key))


def test_tensorflow_restores_by_the_graph_of_objects(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "checkpoint")
    values = {"a/kernel": np.arange(3, dtype="f4"), "b.c": np.ones((2, 2), "f4")}
    tensors: dict[str, Any] = {key_of(name, "model"): value for name, value in values.items()}
    tensors |= {key_of("step"): np.array(7), KEY: object_graph(["step"], {"model": list(values)})}
    write_bundle(path, tensors)
    model = {name: tf.Variable(np.zeros_like(value)) for name, value in values.items()}
    step = tf.Variable(0, dtype=tf.int64)
    tf.train.Checkpoint(model=model, step=step).read(path).assert_consumed()
    assert int(step) == 7
    for name, value in values.items():
        np.testing.assert_array_equal(model[name], value)


@pytest.mark.parametrize("ending", ["index", "data-00000-of-00001"])
def test_any_changed_byte_is_noticed(tmp_path: pathlib.Path, ending: str) -> None:
    path = str(tmp_path / "bundle")
    tensors = {"weights": np.arange(5, dtype="f4"), "state": b"{}"}
    write_bundle(path, tensors)
    file = pathlib.Path(f"{path}.{ending}")
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        if ending == "index" and len(whole) - 48 <= place < len(whole) - 8:
            # The footer has no checksum, and is padded.
            continue
        with pytest.raises((ValueError, IndexError, KeyError)):
            assert_holds(BundleReader(path), tensors)
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        with pytest.raises((ValueError, IndexError, KeyError)):
            assert_holds(BundleReader(path), tensors)
