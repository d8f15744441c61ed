"""Build a training run from names and options, without command-line flags."""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.data.input.buckets import Buckets
from t2t_phrase.data.input.pipeline import EpochCount, TrainingPipeline, evaluation_batches
from t2t_phrase.data.input.reader import RecordReader
from t2t_phrase.data.problem import Problem
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.directory import BEST, RunDirectory
from t2t_phrase.runs.kept_vocabularies import keep_vocabularies
from t2t_phrase.runs.record import FILE, RunRecord
from t2t_phrase.runs.vocabulary import checksums
from t2t_phrase.runs.warm_start import OtherVocabulary, warm_start
from t2t_phrase.text.vocabularies import Encoder, Vocabularies
from t2t_phrase.training.build import build, make_stepper
from t2t_phrase.training.cluster import Cluster
from t2t_phrase.training.evaluate import Bleu, Evaluator
from t2t_phrase.training.facts import facts_of_run
from t2t_phrase.training.loop import Trainer
from t2t_phrase.training.loop_options import LoopOptions
from t2t_phrase.training.memory import explained
from t2t_phrase.training.peers import Peers
from t2t_phrase.training.schedules import FactorSchedule, length_warning, make_schedule
from t2t_phrase.training.summaries import Summaries
from t2t_phrase.training.trackers import Tracker, check_trackers, make_trackers
from t2t_phrase.training_hparams import TrainingHParams

# The number of rows of the embedding is a multiple of this, for the sake of matrix units.
VOCAB_MULTIPLE = 8
# The largest seed of NumPy's generator.
_LARGEST = 2**32 - 1


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The model and data of a run, and the folder for its results.

    Attributes:
        problem: the problem; its data are in `data_dir`.
        data_dir: folder of the shards and the vocabulary.
        output_dir: folder of the run.
        model: registered name of the model.
        hparams_set: registered name of the set of hyperparameters.
        overrides: changes to the set, as in `--hparams`.
        hparams: the set with these changes.
        random_seed: seed of weights, data order and dropout.
        warm_start_from: run or checkpoint to take initial weights from; empty: random weights.
        warm_start_vocab: what to do if that has another vocabulary, see `warm_start`.
        keep_checkpoint_max: number of checkpoints to keep.
        eval_steps: largest number of development batches for the loss, 0: no limit.
        evaluate: whether to evaluate on the development set.
        saves: whether to write to `output_dir`.
        xla: whether to compile with XLA; None: on GPUs only.
        trackers: names of services that receive the scalars, see `training.trackers`.
        t2t_usr_dir: folder of the user's registrations, for messages.
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
    warm_start_vocab: OtherVocabulary = "same"
    keep_checkpoint_max: int = 20
    eval_steps: int = 100
    evaluate: bool = True
    saves: bool = True
    xla: bool | None = None
    trackers: tuple[str, ...] = ()
    t2t_usr_dir: str = ""

    def __post_init__(self) -> None:
        check_trackers(self.trackers)
        for name, least in (("random_seed", 0), ("keep_checkpoint_max", 1), ("eval_steps", 0)):
            if not least <= getattr(self, name) <= _LARGEST:
                raise UserError(
                    f"--{name}={getattr(self, name)}: must be from {least} to {_LARGEST}"
                )


@dataclasses.dataclass(frozen=True)
class Run:
    """A run that is ready to train or evaluate."""

    trainer: Trainer
    model: Any
    record: RunRecord


def prepare(
    options: RunOptions,
    loop: LoopOptions,
    *,
    strategy: Any,
    peers: Peers | None = None,
    bleu: Callable[[Any], Callable[[], Bleu]] | None = None,
    log: Callable[[str], None] = print,
) -> Run:
    """Build the model and the trainer, and write `hparams.json` if the folder has no checkpoint.

    Args:
        options: what to train.
        loop: when to report, save, evaluate and stop.
        strategy: the devices, from `make_strategy`.
        peers: the other workers, which have joined; None: there are none.
        bleu: returns, for a model, a function that translates the development set and computes
            BLEU; None: do not translate.
        log: called with one line of text, on the chief only.

    Raises:
        UserError: the data, or features that the model reads, are missing, or `output_dir` holds a
            run with other settings, early stopping watches a metric that is not computed, or
            another worker has other settings or data.
        OutOfMemoryError: the model does not fit in memory.
    """
    peers = peers or Peers(Cluster())
    chief = peers.cluster.is_chief
    say = log if chief else lambda text: None
    writes = chief and options.saves
    hparams = options.hparams
    if options.saves:
        loop.early_stopping.check_evaluations(
            evaluate=options.evaluate,
            translate=bleu is not None,
            reason=registry.models[options.model].capabilities.cannot_translate,
        )
    vocabularies = options.problem.vocabularies(options.data_dir)
    options.problem.require_features(options.data_dir, hparams.training_features)
    reader = _reader(options, "train")
    samples = _samples(options)
    schedule = make_schedule(hparams, train_steps=loop.train_steps)
    if options.saves and (warning := length_warning(hparams, train_steps=loop.train_steps)):
        say(warning)
    replicas = strategy.num_replicas_in_sync
    parts = _parts(options, replicas, peers, say)
    record = _record(options, vocabularies, schedule, shards=replicas * parts)
    if chief:
        _check_folder(options, record, say)
    peers.compare(
        facts_of_run(record, loop, evaluate=options.evaluate, eval_steps=options.eval_steps)
    )
    with explained("building the model", "lower its sizes in --hparams"):
        built = build(
            hparams,
            name=options.model,
            vocab_size=record.vocab_size,
            target_vocab_size=record.target_vocab_size,
            schedule=schedule,
            seed=options.random_seed,
            strategy=strategy,
        )
    if writes:
        _claim(options.output_dir, record, vocabularies)
    # Other workers receive the chief's weights when training begins.
    if options.warm_start_from and chief:
        _warm_start(options, built.model, vocabularies, say)
    if built.frozen or hparams.lora_rank:
        say(_share_trained(built.model))
    stepper = make_stepper(
        built,
        hparams,
        seed=options.random_seed,
        strategy=strategy,
        parts=parts,
        xla=options.xla,
        log=say,
    )
    if parts > 1 and hparams.effective_batch_size:
        say(
            f"effective_batch_size={hparams.effective_batch_size}: each update adds up the "
            f"gradients of {parts} parts of batch_size={hparams.batch_size}"
            + (f" on each of {replicas} replicas" if replicas > 1 else "")
        )
    evaluator = None
    if options.evaluate:
        evaluator = Evaluator(
            stepper,
            evaluation_batches(
                _reader(options, "dev"), _buckets(hparams, replicas), stepper.share()
            ),
            options.eval_steps,
            bleu(built.model) if bleu is not None and chief else None,
        )
    trainer = Trainer(
        stepper,
        TrainingPipeline(
            reader,
            training_shapes(hparams, stepper.shards),
            options.random_seed,
            EpochLog(say),
            samples,
            packed=hparams.packed_length > 0,
            max_length=hparams.max_length,
            share=stepper.share(parts),
        ),
        RunDirectory(
            options.output_dir,
            model=built.model,
            optimizer=built.optimizer,
            keep=options.keep_checkpoint_max,
            period=loop.local_eval_frequency,
            writes=writes,
            log=say,
        ),
        schedule,
        loop,
        evaluator=evaluator,
        summaries=Summaries(
            options.output_dir,
            writes=writes,
            log=say,
            trackers=_trackers(options, record) if writes else (),
        ),
        log=say,
        peers=peers,
    )
    return Run(trainer, built.model, record)


def _parts(options: RunOptions, replicas: int, peers: Peers, log: Callable[[str], None]) -> int:
    """Return the number of parts of each device's share of a batch, as in an earlier run."""
    earlier = peers.of_chief(_replicas_of_earlier(options) if peers.cluster.is_chief else 0)
    if options.evaluate and not options.saves:
        return 1  # An evaluation divides no updates among devices.
    parts = options.hparams.parts(replicas)
    if options.hparams.effective_batch_size or earlier <= replicas or earlier % replicas:
        return parts
    parts = earlier // replicas
    log(f"the run began on {earlier} devices: each of {replicas} now computes {parts} shares")
    return parts


def _record(
    options: RunOptions,
    vocabularies: Vocabularies,
    schedule: FactorSchedule,
    *,
    shards: int,
) -> RunRecord:
    """Return the record of a run whose batches have this many shards."""
    hparams = options.hparams
    source_checksum, target_checksum = checksums(vocabularies)
    return RunRecord(
        problem=options.problem.name,
        model=options.model,
        hparams_set=options.hparams_set,
        overrides=options.overrides,
        hparams=hparams.to_dict(),
        vocab_size=_rows(vocabularies.source),
        vocabulary=source_checksum,
        target_vocab_size=None if vocabularies.shared else _rows(vocabularies.target),
        target_vocabulary=target_checksum,
        random_seed=options.random_seed,
        replicas=shards,
        train_steps=schedule.train_steps if schedule.may_read_train_steps else 0,
        data=options.problem.data_digest(
            options.data_dir, hparams.training_features, hparams.sampled_segmentations
        ),
        t2t_usr_dir=options.t2t_usr_dir,
    )


def _warm_start(
    options: RunOptions, model: Any, vocabularies: Vocabularies, log: Callable[[str], None]
) -> None:
    """Start from the weights of another run, unless this one has checkpoints."""
    if checkpoints.complete(options.output_dir):
        log(f"{options.output_dir} has checkpoints: --warm_start_from is ignored")
        return
    started = warm_start(
        model,
        options.warm_start_from,
        vocabularies=vocabularies,
        other_vocabulary=options.warm_start_vocab,
    )
    log(str(started))


def _share_trained(model: Any) -> str:
    """Return a line with the number of parameters that are trained, and of all."""
    fixed = [v for v in model.non_trainable_variables if v.name != "seed_generator_state"]
    trained, total = (
        sum(math.prod(v.shape) for v in variables)
        for variables in (model.trainable_variables, [*model.trainable_variables, *fixed])
    )
    return f"{trained:,} of {total:,} parameters are trained"


@dataclasses.dataclass
class EpochLog:
    """Logs the counts of the first epoch, and of later ones if they differ."""

    log: Callable[[str], None]
    _said: tuple[int, int] = (0, 0)

    def __call__(self, count: EpochCount) -> None:
        """Log the counts of an epoch if they are new."""
        if (count.examples, count.dropped) != self._said:
            self._said = (count.examples, count.dropped)
            self.log(str(count))


def _replicas_of_earlier(options: RunOptions) -> int:
    """Return the number of equal parts of a batch in the run that is resumed; 0: no such run."""
    if not checkpoints.complete(options.output_dir):
        return 0
    return RunRecord.load(options.output_dir).replicas


def _trackers(options: RunOptions, record: RunRecord) -> list[Tracker]:
    settings = {**record.hparams, "problem": record.problem, "hparams_set": record.hparams_set}
    return make_trackers(options.trackers, pathlib.Path(options.output_dir), settings)


def _rows(encoder: Encoder) -> int:
    """Return the number of rows of the embedding of a vocabulary."""
    return -(-encoder.vocab_size // VOCAB_MULTIPLE) * VOCAB_MULTIPLE


def _buckets(hparams: TrainingHParams, shards: int) -> Buckets:
    return Buckets.build(
        batch_size=hparams.batch_size,
        max_length=hparams.max_length,
        min_length_bucket=hparams.min_length_bucket,
        length_bucket_step=hparams.length_bucket_step,
        replicas=shards,
    )


def training_shapes(hparams: TrainingHParams, shards: int) -> Buckets:
    """Return the buckets of training; for packed rows, there is only one."""
    length = hparams.packed_length
    if not length:
        return _buckets(hparams, shards)
    return Buckets((length,), (hparams.batch_size // length * shards,), shards)


def _reader(options: RunOptions, split: str) -> RecordReader:
    return _reads(options, options.problem.record_files(options.data_dir, split))


def _samples(options: RunOptions) -> tuple[RecordReader, ...]:
    count = options.hparams.sampled_segmentations
    shards = options.problem.sampled_files(options.data_dir, count)
    return tuple(_reads(options, files) for files in shards)


def _reads(options: RunOptions, files: Sequence[str]) -> RecordReader:
    return RecordReader(
        tuple(files),
        reversed=options.problem.reversed,
        features=options.hparams.training_features,
    )


def _check_folder(options: RunOptions, record: RunRecord, log: Callable[[str], None]) -> None:
    """Check that the folder holds checkpoints of this run, or none at all."""
    folder = pathlib.Path(options.output_dir)
    best = checkpoints.complete(folder / BEST)
    if checkpoints.complete(folder):
        earlier = RunRecord.load(folder)
        if options.evaluate and not options.saves:
            # An evaluation makes no updates.
            record = dataclasses.replace(
                record, train_steps=earlier.train_steps, replicas=earlier.replicas
            )
        record.check_same(earlier, folder)
    elif best:
        raise UserError(
            f"--output_dir={folder} holds no checkpoint to resume from, but {best[-1]}, which a "
            f"new run would replace; move {folder / BEST} away, or give a new --output_dir "
            f"(and --warm_start_from={folder / BEST} to start from these weights)"
        )
    elif (folder / FILE).exists():
        log(f"{folder} holds a run that saved no checkpoint: starting over")


def _claim(
    output_dir: str | os.PathLike[str], record: RunRecord, vocabularies: Vocabularies
) -> None:
    """Record the run and its vocabularies in a folder without checkpoints."""
    folder = pathlib.Path(output_dir)
    if not checkpoints.complete(folder):
        folder.mkdir(parents=True, exist_ok=True)
        keep_vocabularies(vocabularies, folder)
        record.save(folder)
