"""Writes and opens the files of a checkpoint: with TensorFlow, or without it under JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np

from t2t_phrase.runs.object_graph import KEY, key_of, object_graph
from t2t_phrase.runs.tensor_bundle import BundleReader, write_bundle


def write_files(
    path: str, groups: Mapping[str, Mapping[str, Any]], *, step: int, state: str
) -> None:
    """Write PATH.index and PATH.data-*.

    Args:
        path: the path without these endings.
        groups: variables or arrays by name, for "model" and for "optimizer".
        step: number of updates.
        state: JSON.

    Raises:
        Exception: the files cannot be written, see `write_errors`.
    """
    if not _by_tensorflow():
        _write_bundle(path, groups, step, state)
        return
    import tensorflow as tf

    tracked = {
        group: {name: _tracked(value) for name, value in values.items()}
        for group, values in groups.items()
    }
    checkpoint = tf.train.Checkpoint(
        # TensorFlow would keep every Python number that it converts to a tensor, forever.
        step=tf.Variable(np.asarray(step, np.int64)),
        state=tf.Variable(state),
        **tracked,
    )
    checkpoint.write(path)


def write_errors() -> tuple[type[Exception], ...]:
    """Return the errors of `write_files` for a full disk, or a folder that cannot be written."""
    if not _by_tensorflow():
        return (OSError,)
    import tensorflow as tf

    return (OSError, tf.errors.OpError)


def open_files(path: str) -> Any:
    """Return an object with the methods of `BundleReader`.

    Raises:
        Exception: the files are damaged, see `damage`.
    """
    if not _by_tensorflow():
        return BundleReader(path)
    import tensorflow as tf

    return tf.train.load_checkpoint(path)


def damage() -> tuple[type[Exception], ...]:
    """Return the errors for damaged files: those of TensorFlow and those of its bindings."""
    errors = (IndexError, KeyError, ValueError, RuntimeError, OverflowError)
    if not _by_tensorflow():
        return errors
    import tensorflow as tf

    return (tf.errors.OpError, *errors)


def shortage() -> tuple[type[Exception], ...]:
    """Return the errors for lack of memory for a tensor."""
    if not _by_tensorflow():
        return (MemoryError,)
    import tensorflow as tf

    return (tf.errors.ResourceExhaustedError,)


def _by_tensorflow() -> bool:
    return keras.backend.backend() == "tensorflow"


def _tracked(value: Any) -> Any:
    if isinstance(value, keras.Variable):
        return value.value
    import tensorflow as tf

    return tf.Variable(value) if isinstance(value, np.ndarray) else value


def _write_bundle(
    path: str, groups: Mapping[str, Mapping[str, Any]], step: int, state: str
) -> None:
    tensors: dict[str, np.ndarray | bytes] = {
        key_of("step"): np.asarray(step, np.int64),
        key_of("state"): state.encode(),
        KEY: object_graph(
            ("state", "step"), {group: list(values) for group, values in groups.items()}
        ),
    }
    for group, values in groups.items():
        for name, value in values.items():
            array = keras.ops.convert_to_numpy(value)
            if group == "optimizer" and array.dtype == np.int32:
                # Counters, which have 64 bits with TensorFlow.
                array = array.astype(np.int64)
            tensors[key_of(name, group)] = array
    write_bundle(path, tensors)
