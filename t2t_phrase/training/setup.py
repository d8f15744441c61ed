"""Put a run together from names and options: what the trainer's flags say, without flags."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import pathlib
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from t2t_phrase import registry
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.pipeline import EpochCount, TrainingPipeline, evaluation_batches
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.problem import Problem
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.directory import RunDirectory
from t2t_phrase.runs.record import FILE, RunRecord
from t2t_phrase.runs.warm_start import warm_start
from t2t_phrase.training.distribution import has_gpu, is_chief
from t2t_phrase.training.evaluate import Bleu, Evaluator
from t2t_phrase.training.loop import LoopOptions, Trainer
from t2t_phrase.training.step import Stepper, make_optimizer, make_schedule
from t2t_phrase.training.summaries import Summaries
from t2t_phrase.training_hparams import TrainingHParams

# Rows of the embedding are a multiple of this, which matrix units like.
VOCAB_MULTIPLE = 8


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What to train, on what, where to.

    Attributes:
        problem: an instance, data in `data_dir`.
        data_dir: where its shards and vocabulary are.
        output_dir: the run's folder.
        model, hparams_set, overrides: names, and T2T's `--hparams`.
        hparams: the set with the overrides applied.
        random_seed: of weights, data order and dropout.
        warm_start_from: a run or checkpoint whose weights to begin with.
        keep_checkpoint_max: how many checkpoints stay.
        eval_steps: at most so many development batches, 0: all.
        evaluate: whether to look at the development set at all.
        saves: whether to write to `output_dir`.
        xla: whether XLA compiles; None: on GPUs.
    """

    problem: Problem
    data_dir: str
    output_dir: str
    model: str
    hparams_set: str
    overrides: str
    hparams: TrainingHParams
    random_seed: int
    warm_start_from: str = ""
    keep_checkpoint_max: int = 20
    eval_steps: int = 100
    evaluate: bool = True
    saves: bool = True
    xla: bool | None = None


@dataclasses.dataclass(frozen=True)
class Run:
    """Everything of a run, ready to train, to evaluate, or to be looked at."""

    trainer: Trainer
    model: Any
    record: RunRecord


def prepare(
    options: RunOptions,
    loop: LoopOptions,
    *,
    strategy: tf.distribute.Strategy,
    bleu: Callable[[Any], Callable[[], Bleu]] | None = None,
    log: Callable[[str], None] = print,
) -> Run:
    """Build the model and all around it; writes `hparams.json` if the folder is new.

    Args:
        options: what to train.
        loop: when to do what.
        strategy: on which devices.
        bleu: makes, for a model, a function that translates the development set and scores it;
            None: only the loss.
        log: writes a line; only one of several workers does.

    Raises:
        UserError: the data, or phrases that the model reads, are missing, or `output_dir` holds a
            run with other settings.
    """
    chief = is_chief(strategy)
    say = log if chief else lambda text: None
    writes = chief and options.saves
    hparams = options.hparams
    encoder = options.problem.vocabularies(options.data_dir).source
    options.problem.require_features(options.data_dir, hparams.features)
    reader = _reader(options, "train")
    schedule = make_schedule(hparams, train_steps=loop.train_steps)
    record = RunRecord(
        problem=options.problem.name,
        model=options.model,
        hparams_set=options.hparams_set,
        overrides=options.overrides,
        hparams=hparams.to_dict(),
        vocab_size=-(-encoder.vocab_size // VOCAB_MULTIPLE) * VOCAB_MULTIPLE,
        vocabulary=hashlib.sha256(encoder.model_bytes).hexdigest(),
        random_seed=options.random_seed,
        replicas=strategy.num_replicas_in_sync,
        train_steps=loop.train_steps if "linear_decay" in schedule.factors else 0,
    )
    _claim(options.output_dir, record, writes=writes)
    # Initializers draw from Keras' process-wide generator.
    keras.utils.set_random_seed(options.random_seed)
    with strategy.scope():
        model = registry.models[options.model].from_hparams(hparams, vocab_size=record.vocab_size)
        optimizer = make_optimizer(hparams, schedule)
        optimizer.build(model.trainable_variables)
    if options.warm_start_from:
        if checkpoints.latest(options.output_dir):
            say(f"{options.output_dir} has checkpoints: --warm_start_from is not used")
        else:
            say(str(warm_start(model, options.warm_start_from)))
    xla = options.xla
    stepper = Stepper(
        strategy,
        model,
        optimizer,
        seed=options.random_seed,
        phrases=hparams.reads_phrases,
        clip_grad_norm=hparams.clip_grad_norm,
        xla=has_gpu() if xla is None else xla,
        log=say,
    )
    buckets = Buckets.build(
        batch_size=hparams.batch_size,
        max_length=hparams.max_length,
        min_length_bucket=hparams.min_length_bucket,
        length_bucket_step=hparams.length_bucket_step,
        replicas=stepper.replicas,
    )
    evaluator = None
    if options.evaluate:
        evaluator = Evaluator(
            stepper,
            evaluation_batches(_reader(options, "dev"), buckets),
            options.eval_steps,
            bleu(model) if bleu is not None and chief else None,
        )
    trainer = Trainer(
        stepper,
        TrainingPipeline(reader, buckets, options.random_seed, EpochLog(say)),
        RunDirectory(
            options.output_dir,
            model=model,
            optimizer=optimizer,
            keep=options.keep_checkpoint_max,
            period=loop.local_eval_frequency,
            writes=writes,
            log=say,
        ),
        schedule,
        loop,
        evaluator,
        Summaries(options.output_dir, writes=writes, log=say),
        log=say,
    )
    return Run(trainer, model, record)


@dataclasses.dataclass
class EpochLog:
    """Says what the first epoch held, and any later one only if it differs."""

    log: Callable[[str], None]
    _said: tuple[int, int] = (0, 0)

    def __call__(self, count: EpochCount) -> None:
        """Take note of an epoch."""
        if (count.examples, count.dropped) != self._said:
            self._said = (count.examples, count.dropped)
            self.log(str(count))


def _reader(options: RunOptions, split: str) -> RecordReader:
    files = options.problem.record_files(options.data_dir, split)
    return RecordReader(
        tuple(files),
        reversed=options.problem.reversed,
        features=options.hparams.features,
    )


def _claim(output_dir: str | os.PathLike[str], record: RunRecord, *, writes: bool) -> None:
    """Make the folder this run's, or check that it is."""
    folder = pathlib.Path(output_dir)
    if (folder / FILE).exists() or checkpoints.latest(folder):
        record.check_same(RunRecord.load(folder), folder)
    elif writes:
        folder.mkdir(parents=True, exist_ok=True)
        record.save(folder)
