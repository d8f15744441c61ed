"""Writes the batches of several seeds to one file, for `seeds_together.py`.

    python benchmarks/seed_batches.py --problem=translate_ende_multi30k_moses --data_dir=data \\
        --set=transformer_multi30k_post --seeds=1234,4321,2023 --updates=8000 --output=batches.npz

The batches hold the pairs that `t2t-phrase-trainer` puts into them with the same set and seed. For
fewer compilations, their shapes are those of `--lengths`; and so that all seeds have batches of the
same shape at the same time, their order changes within about an epoch, except for the first seed's.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
from typing import Any

import numpy as np
from script import run_script

LONGEST = 64


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--problem", required=True)
    options.add_argument("--data_dir", required=True)
    options.add_argument("--set", required=True, help="a set with the shapes of the batches")
    options.add_argument("--hparams", default="", help="changes to the set")
    options.add_argument("--seeds", default="1234,4321,2023")
    options.add_argument("--updates", type=int, default=8000)
    options.add_argument("--lengths", default="10,16,26,64", help="of the padded batches")
    options.add_argument("--output", required=True, type=pathlib.Path)
    args = options.parse_args()
    from t2t_phrase import registry
    from t2t_phrase.data.problem import get_problem

    registry.discover()
    hparams = registry.hparams[args.set]().override(args.hparams)
    if hparams.packed_length or hparams.sampled_segmentations or hparams.effective_batch_size:
        raise SystemExit(
            f"{args.set} with {args.hparams or 'its own values'}: set packed_length, "
            "sampled_segmentations and effective_batch_size to 0"
        )
    problem = get_problem(args.problem)
    lengths = np.array(sorted(int(length) for length in args.lengths.split(",")))
    if not hparams.max_length <= lengths[-1] <= LONGEST:
        raise SystemExit(
            f"--lengths={args.lengths}: the last must be from max_length={hparams.max_length} of "
            f"{args.set} to {LONGEST}"
        )
    vocabularies = problem.vocabularies(args.data_dir)
    if not vocabularies.shared or vocabularies.target.vocab_size > 2**15:
        raise SystemExit(
            f"{args.problem}: the vocabulary must be shared and have at most {2**15:,} entries"
        )
    arrays: dict[str, Any] = {}
    queues = []
    for seed in map(int, args.seeds.split(",")):
        batches = batches_of(problem, hparams, args.data_dir, seed, args.updates)
        if not arrays:
            arrays |= pairs_of(batches[0].pairs, hparams)
        # The class of a batch is the shortest of the lengths that holds it.
        classes = [int(np.searchsorted(lengths, each.shape.bound)) for each in batches]
        queues.append((batches, classes))
    order = queues[0][1]
    rows = [0] * len(lengths)
    kept = []
    for batches, classes in queues:
        for batch, kind in zip(batches, classes, strict=True):
            rows[kind] = max(rows[kind], batch.shape.rows)
        members = [batch.numbers for batch in batches]
        kept.append(in_the_order_of(order, list(zip(members, classes, strict=True))))
    order = order[: min(map(len, kept))]
    for number, own in enumerate(kept):
        own = own[: len(order)]
        arrays[f"members_{number}"] = np.concatenate(own).astype(np.int32)
        arrays[f"counts_{number}"] = np.array([len(each) for each in own], np.int32)
    rows_of_embedding = -(-vocabularies.target.vocab_size // 8) * 8
    arrays["vocab_size"] = np.array(rows_of_embedding)
    shapes = np.stack([rows, lengths], axis=1)
    arrays |= {"order": np.array(order, np.int8), "shapes": shapes}
    for split in ("dev", "test"):
        arrays |= sentences_of(problem, args.data_dir, split)
    np.savez_compressed(args.output, **arrays)
    used = collections.Counter(order)
    print(f"wrote {args.output}: {len(order)} updates,", end=" ")
    print(*(f"{used[n]} of {r} x {length}" for n, (r, length) in enumerate(shapes)), sep=", ")


def in_the_order_of(order: list[int], batches: list[tuple[Any, int]]) -> list[Any]:
    """Return batches such that their classes follow an order, as far as there are any.

    Args:
        order: classes.
        batches: (batch, class) each; those of a class stay in their order.
    """
    waiting: dict[int, collections.deque[Any]] = collections.defaultdict(collections.deque)
    for batch, kind in batches:
        waiting[kind].append(batch)
    found = []
    for kind in order:
        if not waiting[kind]:
            break
        found.append(waiting[kind].popleft())
    return found


def batches_of(problem: Any, hparams: Any, data_dir: str, seed: int, updates: int) -> list[Any]:
    """Return the first batches that the trainer makes, and a few more."""
    from t2t_phrase.data.input.pipeline import TrainingPipeline
    from t2t_phrase.data.input.reader import RecordReader
    from t2t_phrase.training.run_data import training_shapes

    reader = RecordReader(
        tuple(problem.record_files(data_dir, "train")),
        reversed=problem.reversed,
        features=hparams.training_features,
    )
    pipeline = TrainingPipeline(
        reader, training_shapes(hparams, 1), seed, max_length=hparams.max_length
    )
    found = pipeline.batches()
    return [next(found)._replace(features={}) for _ in range(updates + updates // 40)]


def pairs_of(pairs: Any, hparams: Any) -> dict[str, np.ndarray]:
    """Return each array of all pairs, (N, LONGEST) int16."""
    found: dict[str, list[np.ndarray]] = {}
    for columns in pairs.columns:
        for name, column in columns.items():
            rows = [column.row(number) for number in range(len(column.lengths))]
            found.setdefault(name, []).extend(rows)
    pads = {feature.name: feature.pad for feature in hparams.training_features}
    return {name: padded(rows, pads.get(name, 0), LONGEST) for name, rows in found.items()}


def sentences_of(problem: Any, data_dir: str, split: str) -> dict[str, np.ndarray]:
    """Return both sides of a split, padded to its longest sentence."""
    from t2t_phrase.data.input.reader import RecordReader

    files = tuple(problem.record_files(data_dir, split))
    pairs = list(RecordReader(files, reversed=problem.reversed).read())
    sides = {"inputs": [p.inputs for p in pairs], "targets": [p.targets for p in pairs]}
    longest = max(len(row) for rows in sides.values() for row in rows)
    return {f"{split}_{name}": padded(rows, 0, longest) for name, rows in sides.items()}


def padded(rows: Any, pad: int, length: int) -> np.ndarray:
    """Return (N, length) int16; longer rows are cut, which no batch of them reads."""
    made = np.full((len(rows), length), pad, np.int16)
    for number, row in enumerate(rows):
        made[number, : len(row)] = row[:length]
    return made


if __name__ == "__main__":
    run_script(main)
