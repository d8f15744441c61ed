"""Shared code of the ablations of trained runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def for_each_run(measure: Callable[[str, str], None], description: str | None) -> None:
    """Call `measure` with each run and the data folder of the command line.

    Args:
        measure: reports on one run.
        description: documentation of the script, whose first line is shown by --help.
    """
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("runs", nargs="+", help="folders of runs, or checkpoints")
    parser.add_argument("--data_dir", required=True)
    args = parser.parse_args()

    from t2t_phrase import registry

    registry.discover()
    for run in args.runs:
        measure(run, args.data_dir)


def dev_loss(trained: Any, data_dir: str) -> Callable[[], float]:
    """Return a function that computes the loss per target token with the current weights."""
    import tensorflow as tf

    from t2t_phrase.data.input.buckets import Buckets
    from t2t_phrase.data.input.pipeline import evaluation_batches
    from t2t_phrase.data.input.reader import RecordReader
    from t2t_phrase.data.problem import get_problem

    hparams, problem = trained.model.hparams, get_problem(trained.record.problem)
    buckets = Buckets.build(
        batch_size=hparams.batch_size,
        max_length=hparams.max_length,
        min_length_bucket=hparams.min_length_bucket,
        length_bucket_step=hparams.length_bucket_step,
        replicas=1,
    )
    files = tuple(problem.record_files(data_dir, "dev"))
    batches = evaluation_batches(
        RecordReader(files, reversed=problem.reversed, features=hparams.training_features), buckets
    )

    @tf.function(reduce_retracing=True)
    def log_probability(features: dict[str, Any]) -> Any:
        real = features["targets"] != 0
        found = trained.model.token_log_probabilities(features)
        return tf.reduce_sum(tf.where(real, found, 0.0))

    def loss() -> float:
        total = sum(float(log_probability(batch.features)) for batch in batches)
        return -total / sum(batch.target_tokens for batch in batches)

    return loss
