"""Token ids and features as TFRecord shards of `tf.train.Example`."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import pathlib
import random
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.data.lines import read_lines
from t2t_phrase.data.sources.side_files import side_lines
from t2t_phrase.features import IDS, OTHER, Feature, Side
from t2t_phrase.files import WriteError, atomic, disk_full, reason_of, sha256_of
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.annotations.base import Annotation, Sentence, annotation_of
from t2t_phrase.text.annotations.labels import LabelAnnotation
from t2t_phrase.text.encoders import StoredEncoder, load_encoder

_BATCH = 1000
# What precedes a record: the length of its content, and a checksum of the length.
_HEADER = struct.Struct("<QI")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShardTask:
    """A shard to write: parallel text files in, one record file out.

    Attributes:
        source, target: text files with as many lines.
        side: files with the lines of streams, by the name of the stream.
        features: what the records hold, made from those lines.
        labels: the labels of features that have some, in the order of their integers.
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
    labels: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)


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
    digests = {name: hashlib.sha256() for name in ("ids", *(f.name for f in task.features))}
    with atomic(output) as temporary:
        try:
            with tf.io.TFRecordWriter(str(temporary)) as writer:
                for example in examples:
                    writer.write(example.serialized)
                    records += 1
                    totals = [a + b for a, b in zip(totals, example.counts, strict=True)]
                    for name, content in example.contents.items():
                        digests[name].update(content)
        except tf.errors.ResourceExhaustedError as error:
            raise disk_full(output) from error
        except tf.errors.OpError as error:
            raise WriteError(f"cannot write {output}: {reason_of(error)}") from error
        entry = {
            "file": output.name,
            "sha256": sha256_of(temporary),
            "bytes": temporary.stat().st_size,
            "records": records,
        }
    return {
        **entry,
        **dict(zip(names, totals, strict=True)),
        "digests": {name: digest.hexdigest() for name, digest in digests.items()},
    }


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


def count_records(path: pathlib.Path) -> int:
    """Return the number of records of a file, whose content is not read.

    Raises:
        UserError: the file cannot be read, or does not end with a record.
    """
    count = 0
    try:
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
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    return count


class _Encoded(NamedTuple):
    """An example, its counts (tokens of both sides, different values of features) and contents."""

    serialized: bytes
    counts: tuple[int, ...]
    contents: dict[str, bytes]


def _encode(task: ShardTask) -> Iterator[_Encoded]:
    encoders = dict(zip(IDS, map(load_encoder, task.vocabularies), strict=True))
    sources = map(str, read_lines(pathlib.Path(task.source)))
    targets = map(str, read_lines(pathlib.Path(task.target)))
    sides = {stream: side_lines(pathlib.Path(path)) for stream, path in task.side.items()}
    annotated = [(feature, _annotation(feature, task)) for feature in task.features]
    with_starts = {feature.side for feature in task.features}
    with_starts |= {OTHER[feature.side] for feature, form in annotated if form.needs_other}
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
            contents = {"ids": _bytes(source) + _bytes(target)}
            contents |= {name: _bytes(numbers) for name, numbers in features.items()}
            yield _Encoded(
                make_example(source, target, features),
                (len(source), len(target), *values),
                contents,
            )
        done += len(batch)


def _annotation(feature: Feature, task: ShardTask) -> Annotation:
    annotation = annotation_of(feature)
    if isinstance(annotation, LabelAnnotation):
        return annotation.with_labels(task.labels[feature.name])
    return annotation


def _bytes(numbers: Sequence[int]) -> bytes:
    """Return the length and the numbers, so that what follows is told apart."""
    return np.array([len(numbers), *numbers], "<i4").tobytes()


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
    own, other = pair[feature.side], pair[OTHER[feature.side]]
    numbers = annotation.encode(own, annotation.read(own.text, line, other.text), other)
    return [*numbers, annotation.end(numbers, other)]
