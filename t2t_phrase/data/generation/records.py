"""Token ids and features as TFRecord shards of `tf.train.Example`."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.data.lines import read_lines
from t2t_phrase.data.sources.side_files import side_lines
from t2t_phrase.features import IDS, Feature, Side
from t2t_phrase.files import atomic, disk_full, sha256_of
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.annotations.base import Annotation, Sentence, annotation_of
from t2t_phrase.text.encoders import StoredEncoder, load_encoder

_BATCH = 1000


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShardTask:
    """A shard to write: parallel text files in, one record file out.

    Attributes:
        source, target: text files with as many lines.
        side: files with the lines of streams, by the name of the stream.
        features: what the records hold, made from those lines.
        output: the record file.
        vocabularies: files of the source's and the target's vocabulary.
        shuffle_seed: seed of the order of the records; None keeps the order of the lines.
    """

    source: str
    target: str
    output: str
    vocabularies: tuple[str, str]
    shuffle_seed: str | None
    side: Mapping[str, str] = dataclasses.field(default_factory=dict)
    features: tuple[Feature, ...] = ()


def shard_name(base: str, split: str, index: int, count: int) -> str:
    """Return T2T's `name-train-00003-of-00010`."""
    return f"{base}-{split}-{index:05d}-of-{count:05d}"


def write_shard(task: ShardTask) -> dict[str, Any]:
    """Encode and write one shard; returns its entry in the manifest.

    Raises:
        UserError: the disk is full, or a file cannot be read or written.
    """
    output = pathlib.Path(task.output)
    examples = _encode(task)
    if task.shuffle_seed is not None:
        shuffled = list(examples)
        random.Random(task.shuffle_seed).shuffle(shuffled)
        examples = iter(shuffled)
    names = ("source_tokens", "target_tokens", *(feature.name for feature in task.features))
    records, totals = 0, [0] * len(names)
    with atomic(output) as temporary:
        try:
            with tf.io.TFRecordWriter(str(temporary)) as writer:
                for serialized, counts in examples:
                    writer.write(serialized)
                    records += 1
                    totals = [total + count for total, count in zip(totals, counts, strict=True)]
        except tf.errors.ResourceExhaustedError as error:
            raise disk_full(output) from error
        checksum = sha256_of(temporary)
    entry = {"file": output.name, "sha256": checksum, "records": records}
    return {**entry, **dict(zip(names, totals, strict=True))}


def make_example(
    inputs: Sequence[int],
    targets: Sequence[int],
    features: Mapping[str, Sequence[int]] | None = None,
) -> bytes:
    """Return a serialized `tf.train.Example` of int64 lists: "inputs", "targets" and `features`."""
    lists = {"inputs": inputs, "targets": targets, **(features or {})}
    feature = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        for name, values in lists.items()
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    return bytes(example.SerializeToString(deterministic=True))


def read_examples(path: str) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (inputs, targets) of a record file, as they are stored."""
    for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
        feature = tf.train.Example.FromString(record).features.feature
        yield list(feature["inputs"].int64_list.value), list(feature["targets"].int64_list.value)


def _encode(task: ShardTask) -> Iterator[tuple[bytes, tuple[int, ...]]]:
    """Yield each example with its counts: tokens of both sides, different values of features."""
    encoders = dict(zip(IDS, map(load_encoder, task.vocabularies), strict=True))
    sources = map(str, read_lines(pathlib.Path(task.source)))
    targets = map(str, read_lines(pathlib.Path(task.target)))
    sides = {stream: side_lines(pathlib.Path(path)) for stream, path in task.side.items()}
    annotated = [(feature, annotation_of(feature)) for feature in task.features]
    with_starts = {feature.side for feature in task.features}
    done = 0
    while batch := list(itertools.islice(sources, _BATCH)):
        columns: dict[Side, list[str]] = {
            "source": batch,
            "target": list(itertools.islice(targets, len(batch))),
        }
        sentences = {
            side: _sentences(encoders[side], texts, starts=side in with_starts)
            for side, texts in columns.items()
        }
        lines = {
            stream: list(itertools.islice(column, len(batch))) for stream, column in sides.items()
        }
        for i in range(len(batch)):
            pair = {side: column[i] for side, column in sentences.items()}
            source, target = ([*pair[side].ids, EOS_ID] for side in IDS)
            features = {}
            for feature, annotation in annotated:
                stream = feature.side_stream
                try:
                    features[feature.name] = _values(feature, annotation, pair, lines[stream][i])
                except UserError as error:
                    raise UserError(f"{task.side[stream]}:{done + i + 1}: {error}") from error
            values = (len(set(features[feature.name])) for feature in task.features)
            serialized = make_example(source, target, features)
            yield serialized, (len(source), len(target), *values)
        done += len(batch)


def _sentences(encoder: StoredEncoder, texts: list[str], *, starts: bool) -> list[Sentence]:
    """Return the texts with their ids; without `starts`, which take time, those are empty."""
    if starts:
        encoded = encoder.encode_with_starts(texts)
    else:
        encoded = [(ids, []) for ids in encoder.encode_batch(texts)]
    return [Sentence(text, *found) for text, found in zip(texts, encoded, strict=True)]


def _values(
    feature: Feature, annotation: Annotation, pair: Mapping[Side, Sentence], line: str
) -> list[int]:
    """Return the integer of each token of the feature's side, EOS included."""
    own = pair[feature.side]
    other = pair[feature.reversed.side]
    numbers = annotation.encode(own, annotation.read(own.text, line), other)
    return [*numbers, annotation.end(numbers)]
