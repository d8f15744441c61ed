"""Token ids, and phrases, as TFRecord shards of `tf.train.Example`."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import random
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from t2t_phrase.data.lines import read_lines
from t2t_phrase.data.sources.tree_files import tree_lines
from t2t_phrase.files import atomic, disk_full, sha256_of
from t2t_phrase.text.subwords.encoder import EOS_ID, SubwordEncoder
from t2t_phrase.text.trees.subword_phrases import cut_lines, subword_phrases, with_eos

_BATCH = 1000


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShardTask:
    """A shard to write: parallel text files in, one record file out.

    Attributes:
        source, target: text files with as many lines.
        trees: a file with the trees of the sources, if the records are to hold phrases.
        output: the record file.
        vocabulary: the SentencePiece model file.
        shuffle_seed: order of the records; None keeps the order of the lines.
    """

    source: str
    target: str
    output: str
    vocabulary: str
    shuffle_seed: str | None
    trees: str | None = None


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
    records = source_tokens = target_tokens = phrases = 0
    with atomic(output) as temporary:
        try:
            with tf.io.TFRecordWriter(str(temporary)) as writer:
                for serialized, *counts in examples:
                    writer.write(serialized)
                    records += 1
                    source_tokens += counts[0]
                    target_tokens += counts[1]
                    phrases += counts[2]
        except tf.errors.ResourceExhaustedError as error:
            temporary.unlink(missing_ok=True)
            raise disk_full(output) from error
        checksum = sha256_of(temporary)
    entry = {
        "file": output.name,
        "sha256": checksum,
        "records": records,
        "source_tokens": source_tokens,
        "target_tokens": target_tokens,
    }
    return entry if task.trees is None else {**entry, "phrases": phrases}


def make_example(
    inputs: Sequence[int], targets: Sequence[int], phrases: Sequence[int] | None = None
) -> bytes:
    """Return a serialized `tf.train.Example` of int64 lists, stored as they are given.

    Args:
        inputs: source ids.
        targets: target ids.
        phrases: the number of the phrase that each source id is in; None: not stored.
    """
    lists = {"inputs": inputs, "targets": targets}
    if phrases is not None:
        lists["phrases"] = phrases
    feature = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=ids))
        for name, ids in lists.items()
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    return bytes(example.SerializeToString(deterministic=True))


def read_examples(path: str) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (inputs, targets) of a record file, as they are stored."""
    for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
        feature = tf.train.Example.FromString(record).features.feature
        yield list(feature["inputs"].int64_list.value), list(feature["targets"].int64_list.value)


def _encode(task: ShardTask, encoder: SubwordEncoder) -> Iterator[tuple[bytes, int, int, int]]:
    """Yield each example with its numbers of source ids, target ids and phrases."""
    sources = map(str, read_lines(pathlib.Path(task.source)))
    targets = map(str, read_lines(pathlib.Path(task.target)))
    trees = tree_lines(pathlib.Path(task.trees)) if task.trees else None
    while batch := list(itertools.islice(sources, _BATCH)):
        outputs = encoder.encode_batch(list(itertools.islice(targets, len(batch))))
        inputs: list[list[int]]
        phrases: list[list[int]] | list[None] = [None] * len(batch)
        if trees is None:
            inputs = encoder.encode_batch(batch)
        else:
            cuts = cut_lines(batch, list(itertools.islice(trees, len(batch))), str(task.trees))
            inputs, phrases = _with_phrases(encoder, batch, cuts)
        for source_ids, target_ids, numbers in zip(inputs, outputs, phrases, strict=True):
            source_ids.append(EOS_ID)
            target_ids.append(EOS_ID)
            serialized = make_example(source_ids, target_ids, numbers)
            yield serialized, len(source_ids), len(target_ids), numbers[-1] if numbers else 0


def _with_phrases(
    encoder: SubwordEncoder, texts: list[str], cuts: list[list[str]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the ids of the texts, without EOS, and the phrases' numbers, that of EOS included."""
    encoded = encoder.encode_with_starts(texts)
    numbers = [
        with_eos(subword_phrases(text, starts, cut))
        for text, (_, starts), cut in zip(texts, encoded, cuts, strict=True)
    ]
    return [ids for ids, _ in encoded], numbers
