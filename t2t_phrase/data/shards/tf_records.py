"""Shards of earlier versions: TFRecords of `tf.train.Example`, read into memory as arrays."""

from __future__ import annotations

import functools
import os
import pathlib
import struct
from collections.abc import Sequence

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.data.shards.ragged import Ragged

_CHUNK = 4096
# What precedes a record: the length of its content, and a checksum of the length.
_HEADER = struct.Struct("<QI")


def read_tf_records(path: str, names: Sequence[str]) -> dict[str, Ragged]:
    """Return int64 lists by name, as int32; those that a record lacks are empty.

    Raises:
        UserError: the file is damaged, or cannot be read.
    """
    # TensorFlow takes seconds to start, and shards of this version do not need it.
    import tensorflow as tf

    features = {name: tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64) for name in names}
    parse = functools.partial(tf.io.parse_example, features=features)
    chunks = tf.data.TFRecordDataset(path).batch(_CHUNK).map(parse)
    values: dict[str, list[np.ndarray]] = {name: [np.zeros(0, np.int32)] for name in names}
    lengths: dict[str, list[np.ndarray]] = {name: [np.zeros(0, np.int64)] for name in names}
    try:
        for chunk in chunks:
            for name in names:
                values[name].append(chunk[name].values.numpy().astype(np.int32))
                lengths[name].append(chunk[name].row_lengths().numpy())
    except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
        raise UserError(f"{path} is damaged") from error
    except tf.errors.OpError as error:
        raise UserError(f"cannot read {path}: {type(error).__name__}") from error
    if len(lengths[names[0]]) == 1 and os.path.getsize(path):
        # TensorFlow takes a few bytes for the end.
        raise UserError(f"{path} is damaged after record 0")
    return {
        name: Ragged.of(np.concatenate(values[name]), np.concatenate(lengths[name]))
        for name in names
    }


def count_tf_records(path: pathlib.Path) -> int:
    """Return the number of records of a file, whose content is not read.

    Raises:
        UserError: the file does not end with a record.
        OSError: the file cannot be read.
    """
    count = 0
    size = path.stat().st_size
    with open(path, "rb") as file:
        while header := file.read(_HEADER.size):
            # Four bytes of checksum follow the header and the content.
            if len(header) < _HEADER.size:
                raise UserError(f"{path} is damaged after record {count}")
            end = file.tell() + _HEADER.unpack(header)[0] + 4
            if end > size:
                raise UserError(f"{path} is damaged after record {count}")
            file.seek(end)
            count += 1
    return count
