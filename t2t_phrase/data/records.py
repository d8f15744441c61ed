"""Token ids as TFRecord shards of `tf.train.Example`."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import random
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from t2t_phrase.data.files import atomic, disk_full, sha256_of
from t2t_phrase.data.lines import read_lines
from t2t_phrase.text.subwords import EOS_ID, SubwordEncoder

_BATCH = 1000


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShardTask:
    """A shard to write: two parallel text files in, one record file out.

    Attributes:
        source, target: text files with as many lines.
        output: the record file.
        vocabulary: the SentencePiece model file.
        shuffle_seed: order of the records; None keeps the order of the lines.
    """

    source: str
    target: str
    output: str
    vocabulary: str
    shuffle_seed: str | None


def shard_name(base: str, split: str, index: int, count: int) -> str:
    """Return T2T's `name-train-00003-of-00010`."""
    return f"{base}-{split}-{index:05d}-of-{count:05d}"


def write_shard(task: ShardTask) -> dict[str, Any]:
    """Encode and write one shard; returns its entry in the manifest.

    Raises:
        UserError: the disk is full, or a file cannot be read or written.
    """
    encoder = SubwordEncoder.load(task.vocabulary)
    output = pathlib.Path(task.output)
    examples = _encode(task, encoder)
    if task.shuffle_seed is not None:
        shuffled = list(examples)
        random.Random(task.shuffle_seed).shuffle(shuffled)
        examples = iter(shuffled)
    records = source_tokens = target_tokens = 0
    with atomic(output) as temporary:
        try:
            with tf.io.TFRecordWriter(str(temporary)) as writer:
                for serialized, source_length, target_length in examples:
                    writer.write(serialized)
                    records += 1
                    source_tokens += source_length
                    target_tokens += target_length
        except tf.errors.ResourceExhaustedError as error:
            temporary.unlink(missing_ok=True)
            raise disk_full(output) from error
        checksum = sha256_of(temporary)
    return {
        "file": output.name,
        "sha256": checksum,
        "records": records,
        "source_tokens": source_tokens,
        "target_tokens": target_tokens,
    }


def make_example(inputs: Sequence[int], targets: Sequence[int]) -> bytes:
    """Return a serialized `tf.train.Example` of two int64 lists, stored as they are given."""
    feature = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=ids))
        for name, ids in (("inputs", inputs), ("targets", targets))
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    return bytes(example.SerializeToString(deterministic=True))


def read_examples(path: str) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (inputs, targets) of a record file, as they are stored."""
    for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
        feature = tf.train.Example.FromString(record).features.feature
        yield list(feature["inputs"].int64_list.value), list(feature["targets"].int64_list.value)


def _encode(task: ShardTask, encoder: SubwordEncoder) -> Iterator[tuple[bytes, int, int]]:
    sources = map(str, read_lines(pathlib.Path(task.source)))
    targets = map(str, read_lines(pathlib.Path(task.target)))
    while batch := list(itertools.islice(sources, _BATCH)):
        inputs = encoder.encode_batch(batch)
        outputs = encoder.encode_batch(list(itertools.islice(targets, len(batch))))
        for source_ids, target_ids in zip(inputs, outputs, strict=True):
            source_ids.append(EOS_ID)
            target_ids.append(EOS_ID)
            yield make_example(source_ids, target_ids), len(source_ids), len(target_ids)
