"""Encodes text and writes it as shards of token ids and features."""

from __future__ import annotations

import array
import dataclasses
import itertools
import pathlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.segmentations import Sampling
from t2t_phrase.data.generation.shard_digests import digests_of
from t2t_phrase.data.generation.spool import Spool
from t2t_phrase.data.shards.shard import Shard, read_records, write_arrays
from t2t_phrase.data.sources.side_files import side_lines
from t2t_phrase.features import IDS, OTHER, Feature, Side
from t2t_phrase.io.files import atomic, explain_os_error, sha256_of
from t2t_phrase.io.lines import read_lines
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.annotations.base import Annotation, Sentence, annotation_of
from t2t_phrase.text.annotations.labels import LabelAnnotation
from t2t_phrase.text.encoders import StoredEncoder, load_encoder
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.sampling import SegmentationSampler

_BATCH = 1000


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShardTask:
    """A shard to write: parallel text files in, one record file out.

    Attributes:
        source, target: text files with equally many lines.
        side: files with the lines of streams, by the name of the stream.
        features: the features that the records hold, made from those lines.
        labels: the labels of each feature with labels, in the order of their integers.
        output: the record file.
        vocabularies: files of the source's and the target's vocabulary.
        shuffle_seed: seed of the order of the records; None keeps the order of the lines.
        sampling: how segmentations are drawn; None for the usual ones.
    """

    source: str
    target: str
    output: str
    vocabularies: tuple[str, str]
    shuffle_seed: str | None
    side: Mapping[str, str] = dataclasses.field(default_factory=dict)
    features: tuple[Feature, ...] = ()
    labels: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    sampling: Sampling | None = None


def shard_name(base: str, split: str, index: int, count: int) -> str:
    """Return T2T's `name-train-00003-of-00010`."""
    return f"{base}-{split}-{index:05d}-of-{count:05d}"


def write_shard(task: ShardTask) -> dict[str, Any]:
    """Encode and write one shard; return its entry in the manifest.

    Raises:
        UserError: the disk is full, or a file cannot be read or written.
    """
    output = pathlib.Path(task.output)
    encoders = {side: _encoder(task, side) for side in IDS}
    side_of = {name: side for side, name in IDS.items()}
    side_of |= {feature.name: feature.side for feature in task.features}
    types: dict[str, type] = dict.fromkeys(side_of, np.int32)
    types |= {name: _type_of_ids(encoders[side]) for side, name in IDS.items()}
    different = {feature.name: 0 for feature in task.features}
    try:
        with Spool(output.parent, types, side_of) as spool:
            for pairs in _encode(task, encoders):
                spool.add(pairs)
                for name in different:
                    different[name] += sum(len(set(pair[name])) for pair in pairs)
            if task.shuffle_seed is None:
                return _written(spool.shard(), output, different)
            with spool.in_order(_shuffled(spool.shard().records, task.shuffle_seed)) as shard:
                return _written(shard, output, different)
    except OSError as error:
        if isinstance(error, UserError):
            raise
        raise explain_os_error(error, output) from error


def count_records(path: pathlib.Path) -> int:
    """Return the number of records of a shard, reading only its header.

    Raises:
        UserError: the shard cannot be read, or is damaged.
    """
    try:
        return read_records(path)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error


def _written(shard: Shard, output: pathlib.Path, different: Mapping[str, int]) -> dict[str, Any]:
    """Write a shard; return its entry in the manifest."""
    with atomic(output) as temporary:
        write_arrays(temporary, shard)
        entry = {
            "file": output.name,
            "sha256": sha256_of(temporary),
            "bytes": temporary.stat().st_size,
            "records": shard.records,
        }
    tokens = {f"{side}_tokens": len(shard.values[name]) for side, name in IDS.items()}
    return {**entry, **tokens, **different, "digests": digests_of(shard)}


def _shuffled(count: int, seed: str) -> np.ndarray:
    """Return the numbers from 0 to count - 1 in an order drawn from the seed: (count,) int64."""
    order = array.array("q", range(count))
    # Shuffling swaps items, which works on an array as on a list.
    random.Random(seed).shuffle(order)
    return np.array(order, np.int64)


def _type_of_ids(encoder: StoredEncoder | SegmentationSampler) -> type:
    small = isinstance(encoder, StoredEncoder) and encoder.vocab_size <= 2**16
    return np.uint16 if small else np.int32


def _encode(
    task: ShardTask, encoders: Mapping[Side, StoredEncoder | SegmentationSampler]
) -> Iterator[list[dict[str, Sequence[int]]]]:
    """Yield the integers of sentence pairs by name, in batches of pairs."""
    sources, targets = (
        map(str, read_lines(pathlib.Path(path), drop_mark=False))
        for path in (task.source, task.target)
    )
    sides = {
        stream: side_lines(pathlib.Path(path), drop_mark=False)
        for stream, path in task.side.items()
    }
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
        found: list[dict[str, Sequence[int]]] = []
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
            found.append({"inputs": source, "targets": target, **features})
        yield found
        done += len(batch)


def _annotation(feature: Feature, task: ShardTask) -> Annotation:
    annotation = annotation_of(feature)
    if isinstance(annotation, LabelAnnotation):
        return annotation.with_labels(task.labels[feature.name])
    return annotation


def _encoder(task: ShardTask, side: Side) -> StoredEncoder | SegmentationSampler:
    encoder = load_encoder(task.vocabularies[0 if side == "source" else 1])
    if task.sampling is None or side not in task.sampling.sides:
        return encoder
    assert isinstance(encoder, SubwordEncoder)
    seed = f"{task.sampling.seed}-{side}"
    return SegmentationSampler(encoder, alpha=task.sampling.alpha, seed=seed)


def _sentences(
    encoder: StoredEncoder | SegmentationSampler, texts: list[str], *, starts: bool
) -> list[Sentence]:
    """Return the texts with their ids; without `starts`, which cost time, these may be empty."""
    if starts or isinstance(encoder, SegmentationSampler):
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
    if len(numbers) != len(own.ids):
        raise UserError(
            f"the annotation {feature.annotation!r} gives {feature.name!r} {len(numbers)} integers "
            f"for {len(own.ids)} tokens; its encode must return one for each"
        )
    return [*numbers, annotation.end(numbers, other)]
