"""Makes shards from staged text, in several processes if there are many pairs."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Collection
from typing import Any

from t2t_phrase.cores import usable_cores
from t2t_phrase.data.generation.labels import read_labels
from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.progress import Log, Progress
from t2t_phrase.data.generation.records import ShardTask, shard_name
from t2t_phrase.data.generation.segmentations import sample_splits, sampling_of
from t2t_phrase.data.generation.split_stager import SplitStager
from t2t_phrase.data.generation.staging import feature_streams
from t2t_phrase.data.generation.workers import write_shards

# Number of pairs above which starting worker processes, which takes seconds, pays off.
_MANY_PAIRS = 20_000

# The split and the number of a shard.
ShardKey = tuple[str, int]


def processes(num_workers: int) -> int:
    """Return the number of processes that the option `num_workers` stands for."""
    return num_workers or usable_cores()


def write_missing(
    keys: Collection[ShardKey],
    manifest: Manifest,
    stager: SplitStager,
    *,
    folder: pathlib.Path,
    pairs: int,
    num_workers: int,
    log: Log,
    done: Callable[[ShardKey, dict[str, Any]], None],
) -> None:
    """Write shards.

    Args:
        keys: the shards to write.
        manifest: manifest of the data, with their vocabularies and labels.
        stager: the stager of the text, which must be staged already.
        folder: the data folder.
        pairs: number of pairs in these shards.
        num_workers: number of processes; 0: one for each CPU if there are many pairs, else one.
        log: takes lines of progress.
        done: called with the key of each finished shard and its entry in the manifest.

    Raises:
        UserError: a shard could not be written; those written before are complete.
    """
    base = manifest.problem
    files = [str(folder / entry["file"]) for entry in manifest.vocabulary]
    labels = read_labels(folder, manifest.labels)
    samples = sample_splits(manifest.options)
    tasks = {}
    for split, index in keys:
        text = "train" if split in samples else split
        count = manifest.options["num_shards"] if text == "train" else 1
        source, target, *side = map(str, stager.text_of_shard(text, index))
        tasks[split, index] = ShardTask(
            source=source,
            target=target,
            output=str(folder / shard_name(base, split, index, count)),
            vocabularies=(files[0], files[-1]),
            shuffle_seed=f"{manifest.options['random_seed']}-{index}" if text == "train" else None,
            side=dict(zip(feature_streams(stager.features), side, strict=True)),
            features=stager.features,
            labels=labels,
            sampling=sampling_of(manifest.options, split, index),
        )
    progress = Progress(f"{base}: encoded", log, total=pairs)
    few = not num_workers and pairs <= _MANY_PAIRS
    for key, entry in write_shards(tasks, num_workers=1 if few else processes(num_workers)):
        done(key, entry)
        progress.advance(entry["records"])
    log(progress.describe())
