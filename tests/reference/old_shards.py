"""Writes shards as earlier versions did: TFRecords of `tf.train.Example`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import tensorflow as tf


def write_tf_records(
    path: str | os.PathLike[str], records: Iterable[Mapping[str, Sequence[int]]]
) -> None:
    """Write records of int64 lists by name."""
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            feature = {
                name: tf.train.Feature(int64_list=tf.train.Int64List(value=values))
                for name, values in record.items()
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString(deterministic=True))
