"""Shows a run without training: parameters, batch shapes, and whether the largest batch fits."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator

import keras
import numpy as np

from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.out_of_memory import explained
from t2t_phrase.runs import checkpoints
from t2t_phrase.training.distribution import peak_bytes
from t2t_phrase.training.setup import Run


def dry_run(run: Run, *, log: Callable[[str], None] = print) -> None:
    """Print a run's parameters and batch shapes, and make two updates on its largest batch.

    The updates change the weights, but nothing is saved.

    Raises:
        OutOfMemoryError: the batch does not fit in memory.
    """
    for line in (*parameter_table(run.model), *bucket_table(run.trainer.pipeline.buckets)):
        log(line)
    stepper, buckets = run.trainer.stepper, run.trainer.pipeline.buckets
    largest = buckets.largest()
    rows, bound = buckets.rows[largest], buckets.bounds[largest]
    features = stepper.fake_features(rows, bound, bound)
    for repeat in ("with compilation", "again"):
        start = time.perf_counter()
        with explained(
            f"the largest batch, {rows} x {bound} tokens",
            "lower batch_size or max_length in --hparams",
        ):
            float(stepper.train(features).objective)
        log(f"one update of {rows} x {bound} tokens: {time.perf_counter() - start:.2f} s {repeat}")
    log(f"peak memory: {peak_memory()}")


def parameter_table(model: keras.Model) -> Iterator[str]:
    """Yield a line for each weight, and one for the total."""
    weights = checkpoints.model_variables(model)
    width = max(map(len, weights))
    for name, weight in weights.items():
        shape = " x ".join(map(str, weight.shape))
        yield f"{name:<{width}}  {int(np.prod(weight.shape)):>12,}  {shape}"
    total = sum(int(np.prod(weight.shape)) for weight in weights.values())
    yield f"{'total':<{width}}  {total:>12,}"


def bucket_table(buckets: Buckets) -> Iterator[str]:
    """Yield a line for each batch shape."""
    yield f"{counted(len(buckets), 'batch shape')} (rows x length of each side):"
    for rows, bound in zip(buckets.rows, buckets.bounds, strict=True):
        yield f"  {rows:>6} x {bound}"


def peak_memory() -> str:
    """Return the peak memory of this process and of each of its GPUs."""
    kibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    parts = [f"{kibibytes / 2**20:.2f} GiB of main memory"]
    parts += [f"{peak / 2**30:.2f} GiB of {name}" for name, peak in peak_bytes().items()]
    return ", ".join(parts)
