"""Packed rows and buckets: the share of padding, and the real tokens per second of training.

    python benchmarks/packing.py [--set=transformer_base] [--xla] [--dtype=mixed_bfloat16]
    python benchmarks/packing.py --words=12 --packed_length=128

Writes pairs of random ids whose lengths are distributed like those of news, or, with another mean
(--words), of shorter texts. Both ways of batching read one epoch of them, which gives the share of
padding and the speed of reading. Then they take turns making updates on the same number of their
batches, taken from all over the epoch. Reports medians over the rounds, and the median of the
ratios within a round. Updates have the same `batch_size`, thus about the same number of positions.
"""

from __future__ import annotations

import itertools
import pathlib
import statistics
import tempfile
import time
from typing import Any

import numpy as np
from measure import base_model, limit_threads, parser, report, stepper_of
from script import run_script

WAYS = ("buckets", "packed")


def drawn_lengths(pairs: int, words: float, longest: int) -> np.ndarray:
    """Return (2, pairs) lengths of sources and targets, EOS included; targets are 5% longer."""
    random = np.random.default_rng(0)
    sources = random.gamma(3.0, words / 3, pairs)
    targets = sources * random.normal(1.05, 0.15, pairs)
    return np.clip(np.stack([sources, targets]), 1, longest - 1).astype(int) + 1


def write_shard(path: pathlib.Path, lengths: np.ndarray, vocab_size: int) -> None:
    """Write pairs of random ids with these lengths."""
    from t2t_phrase.data.shards.ragged import Ragged
    from t2t_phrase.data.shards.shard import Shard, write_arrays
    from t2t_phrase.features import IDS

    random = np.random.default_rng(1)
    rows = {}
    for side, of_side in zip(IDS, lengths, strict=True):
        values = random.integers(3, vocab_size, of_side.sum()).astype(np.int32)
        values[np.cumsum(of_side) - 1] = 1
        rows[side] = Ragged.of(values, of_side)
    write_arrays(
        str(path),
        Shard(
            {side: found.splits for side, found in rows.items()},
            {IDS[side]: found.values for side, found in rows.items()},
            {IDS[side]: side for side in rows},
        ),
    )


def pipelines(shard: pathlib.Path, hparams: dict[str, Any]) -> dict[str, Any]:
    """Return the input pipelines of both ways."""
    from t2t_phrase.data.input.pipeline import TrainingPipeline
    from t2t_phrase.data.input.reader import RecordReader
    from t2t_phrase.training.run_data import training_shapes

    return {
        way: TrainingPipeline(
            RecordReader((str(shard),)),
            training_shapes(own, 1),
            1,
            packed=own.packed_length > 0,
            max_length=own.max_length,
        )
        for way, own in hparams.items()
    }


def read_epoch(pipeline: Any, kept: int) -> tuple[dict[str, float], list[Any]]:
    """Read an epoch; return figures about it, and `kept` of its batches."""
    start = time.perf_counter()
    batches = list(itertools.takewhile(lambda batch: batch.position.epoch == 0, pipeline.batches()))
    seconds = time.perf_counter() - start
    tokens = sum(batch.tokens for batch in batches)
    figures = {
        "batches": len(batches),
        "shapes": len({batch.inputs.shape for batch in batches}),
        "share_of_padding": round(1 - tokens / sum(batch.size for batch in batches), 4),
        "tokens_read_per_second": round(tokens / seconds),
    }
    step = max(1, len(batches) // kept)
    return figures, batches[::step][:kept]


def tokens_per_second(stepper: Any, batches: list[Any]) -> float:
    """Return the real tokens per second of an update on each of these batches."""
    start = time.perf_counter()
    for batch in batches:
        result = stepper.train(batch.features)
    float(result.objective)
    return sum(batch.tokens for batch in batches) / (time.perf_counter() - start)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--set", default="transformer_base", help="hparams set")
    options.add_argument("--hparams", default="", help="changes to the set, for both ways")
    options.add_argument("--vocab_size", type=int, default=32_000)
    options.add_argument("--pairs", type=int, default=20_000)
    options.add_argument("--words", type=float, default=27.0, help="tokens of a source on average")
    options.add_argument("--packed_length", type=int, default=256)
    options.add_argument("--updates", type=int, default=8, help="of each way in a round")
    args = options.parse_args()
    limit_threads()
    base, model = base_model(args.dtype, args.vocab_size, args.set, args.hparams)
    base = base.replace(max_length=min(base.max_length, args.packed_length))
    hparams = {"buckets": base, "packed": base.replace(packed_length=args.packed_length)}
    with tempfile.TemporaryDirectory() as folder:
        shard = pathlib.Path(folder) / "pairs"
        write_shard(shard, drawn_lengths(args.pairs, args.words, base.max_length), args.vocab_size)
        batches = {}
        for way, pipeline in pipelines(shard, hparams).items():
            figures, batches[way] = read_epoch(pipeline, args.updates)
            report(benchmark="packing", way=way, pairs=args.pairs, **figures)
    steppers = {way: stepper_of(hparams[way], model, xla=args.xla) for way in WAYS}
    rounds: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(args.repeats + 1):
        for way in WAYS:
            rate = tokens_per_second(steppers[way], batches[way])
            # The first round compiles.
            if number:
                rounds[way].append(rate)
    report(
        benchmark="packing",
        set=args.set,
        dtype=args.dtype,
        xla=args.xla,
        tokens_per_second={way: round(statistics.median(rates)) for way, rates in rounds.items()},
        ratio=round(
            statistics.median(
                packed / buckets
                for buckets, packed in zip(*(rounds[way] for way in WAYS), strict=True)
            ),
            3,
        ),
    )


if __name__ == "__main__":
    run_script(main)
