"""Merges the shards of tasks into the manifest of the data."""

from __future__ import annotations

import collections
import pathlib
from collections.abc import Sequence
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.damage import shard_damage
from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.segmentations import sample_splits
from t2t_phrase.data.generation.split_stager import training_content
from t2t_phrase.data.generation.staged import has_checksum
from t2t_phrase.data.generation.tasks import Task, TaskRecord
from t2t_phrase.data.sources.inputs import Inputs, changes


def require_all_tasks(
    records: Sequence[TaskRecord], wanted: Manifest, folder: pathlib.Path
) -> None:
    """Check that tasks can be merged.

    Args:
        records: records of the tasks, at least one.
        wanted: a manifest with the options of the merge.
        folder: the data folder.

    Raises:
        UserError: a task is missing, has not finished or differs from others, or one of its files
            is missing.
    """
    count = records[0].tasks
    by_task = {record.task: record for record in records}
    missing = [index for index in range(count) if index not in by_task]
    unfinished = [record.task for record in records if not record.complete]
    for indices, state in ((missing, "has not been run"), (unfinished, "has not finished")):
        if indices:
            others = f" (nor have {', '.join(map(str, indices[1:]))})" if indices[1:] else ""
            raise UserError(
                f"{wanted.problem}: {Task(indices[0], count)} {state}{others}: run it with "
                f"--task_id={indices[0]} --num_tasks={count}, or copy what it wrote to {folder}; "
                f"to make all data here instead, delete {wanted.problem}-task-*.json there"
            )
    options = dict(wanted.options)
    merge = TaskRecord(0, count, options, {}, {}, records[0].versions, records[0].vocabulary)
    for record in records:
        first = merge if record.task == 0 else records[0]
        if difference := record.differs_from(first):
            against = "this command" if record.task == 0 else str(records[0].of)
            raise UserError(
                f"{wanted.problem}: {record.of} differs from {against} ({difference}); give all "
                "of them the same flags, raw files and vocabulary, and run those that differ again"
            )
        for _, _, entry in record.entries():
            if damage := shard_damage(folder, entry):
                raise UserError(
                    f"{damage}; run --task_id={record.task} --num_tasks={count} again, or copy the "
                    "file from its folder"
                )
    for entry in records[0].vocabulary:
        if not has_checksum(folder / entry["file"], entry["sha256"]):
            raise UserError(
                f"{folder / entry['file']} is missing, or differs from that of the tasks; copy it "
                "from the folder of a task"
            )


def merge(records: Sequence[TaskRecord], manifest: Manifest, inputs: Inputs) -> None:
    """Enter the shards of all tasks into a manifest, as if they had been made for it.

    Args:
        records: records of all tasks, see `require_all_tasks`.
        manifest: the manifest, changed in place.
        inputs: the raw files that the corpus of the merge is made from.

    Raises:
        UserError: the raw files or the text that the tasks read differ from those of the merge.
    """
    first = records[0]
    where = f"{manifest.problem}: {first.of}"
    if found := changes(Inputs(first.inputs, first.parts), inputs):
        raise UserError(
            f"{where} and the others read different raw files ({'; '.join(found)}); give the "
            "merge the --tmp_dir of the tasks"
        )
    staged = [record.staged for record in records]
    train = manifest.splits.get("train")
    if None not in staged:
        sums = {name: sha for own in staged if own for name, sha in own["work"].items()}
        content = training_content(sums, manifest.options["num_shards"])
        if train is not None and train["content"] != content:
            raise UserError(
                f"{where} and the others read a different training text from the one the "
                f"vocabulary was learned from; delete {manifest.problem}-task-*.json and run them "
                "again"
            )
        faults: collections.Counter[str] = collections.Counter()
        for own in staged:
            faults.update(own["faults"] if own else {})
        train = {
            "pairs": sum(own["pairs"] for own in staged if own),
            "faults": dict(sorted(faults.items())),
            "content": content,
            "text": {},
            "side": {},
        }
        if not train["pairs"]:
            detail = "; ".join(f"{count} x {kind}" for kind, count in train["faults"].items())
            raise UserError(f"{where} and the others read no usable sentence pair: {detail}")
    if train is None:
        lacking = next(record for record in records if record.staged is None)
        raise UserError(
            f"{manifest.problem}: {lacking.of} took text that --only_vocabulary had staged, but "
            f"the folder lacks {manifest.problem}-manifest.json, which that run wrote; copy it "
            "there"
        )
    for split in ("train", *sample_splits(manifest.options)):
        shards = {
            number: entry
            for record in records
            for own, number, entry in record.entries()
            if own == split
        }
        listed = [shards.get(number) for number in range(manifest.options["num_shards"])]
        beside: dict[str, Any] = {} if split == "train" else {"faults": {}, "text": {}, "side": {}}
        manifest.splits[split] = {**train, **beside, "shards": listed}
    manifest.vocabulary = first.vocabulary
    manifest.versions = first.versions
    manifest.inputs, manifest.parts = dict(first.inputs), dict(first.parts)
