"""Build a training run from names and options, without command-line flags."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Callable, Collection
from typing import Any

from t2t_phrase import registry
from t2t_phrase.data.input.pipeline import TrainingPipeline, evaluation_batches
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.out_of_memory import explained
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.directory import RunDirectory
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.warm_start import warm_start
from t2t_phrase.text.vocabularies import Vocabularies
from t2t_phrase.training.build import Built, build, make_stepper
from t2t_phrase.training.cluster import Cluster
from t2t_phrase.training.evaluate import Bleu, Evaluator
from t2t_phrase.training.facts import facts_of_run
from t2t_phrase.training.loop import Trainer
from t2t_phrase.training.loop_options import LoopOptions
from t2t_phrase.training.peers import Peers
from t2t_phrase.training.run_data import (
    EpochLog,
    evaluation_shapes,
    make_reader,
    sampled_readers,
    training_shapes,
)
from t2t_phrase.training.run_folder import (
    check_folder,
    claim_folder,
    make_record,
    replicas_of_earlier,
)
from t2t_phrase.training.run_options import RunOptions
from t2t_phrase.training.schedules import FactorSchedule, length_warning, make_schedule
from t2t_phrase.training.summaries import Summaries
from t2t_phrase.training.trackers import Tracker, make_trackers
from t2t_phrase.training.unknown_word import check_word_dropout
from t2t_phrase.training_hparams import TrainingHParams


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
        UserError: the data, or features that the model reads, are missing, word dropout lacks an
            unknown word, `output_dir` holds a run with other settings, early stopping watches a
            metric that is not computed, or another worker has other settings or data.
        OutOfMemoryError: the model does not fit in memory.
    """
    peers = peers or Peers(Cluster())
    chief = peers.cluster.is_chief
    say = log if chief else lambda text: None
    writes = chief and options.saves
    hparams = options.hparams
    vocabularies = _checked_vocabularies(options, loop, translate=bleu is not None)
    reader = make_reader(options, "train")
    samples = sampled_readers(options)
    schedule = make_schedule(hparams, train_steps=loop.train_steps)
    # A run that is resumed cannot follow the advice.
    new = options.saves and not checkpoints.complete(options.output_dir)
    if new and (warning := length_warning(hparams, train_steps=loop.train_steps)):
        say(warning)
    replicas = strategy.num_replicas_in_sync
    parts = _parts(options, replicas, peers, say)
    record = make_record(options, vocabularies, schedule, shards=replicas * parts)
    if chief:
        check_folder(options, record, say)
    peers.compare(
        facts_of_run(record, loop, evaluate=options.evaluate, eval_steps=options.eval_steps)
    )
    built = _built(options, record, schedule, strategy)
    # Other workers receive the chief's weights when training begins.
    if chief:
        _start(options, built.model, vocabularies, say)
    if writes:
        claim_folder(options.output_dir, record, vocabularies)
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
        say(_accumulation(hparams, parts, replicas))
    evaluator = None
    if options.evaluate:
        evaluator = Evaluator(
            stepper,
            evaluation_batches(
                make_reader(options, "dev"), evaluation_shapes(hparams, replicas), stepper.share()
            ),
            options.eval_steps,
            bleu(built.model) if bleu is not None and chief else None,
        )
    batches = TrainingPipeline(
        reader,
        training_shapes(hparams, stepper.shards),
        options.random_seed,
        EpochLog(say),
        samples,
        packed=hparams.packed_length > 0,
        max_length=hparams.max_length,
        share=stepper.share(parts),
    )
    trainer = Trainer(
        stepper,
        batches,
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


def _checked_vocabularies(
    options: RunOptions, loop: LoopOptions, *, translate: bool
) -> Vocabularies:
    """Return the vocabularies of a run whose options fit together and fit its data."""
    if options.saves:
        loop.early_stopping.check_evaluations(
            evaluate=options.evaluate,
            translate=translate,
            reason=registry.models[options.model].capabilities.cannot_translate,
        )
    vocabularies = options.problem.vocabularies(options.data_dir)
    check_word_dropout(options.hparams, vocabularies)
    options.problem.require_features(options.data_dir, options.hparams.training_features)
    return vocabularies


def _parts(options: RunOptions, replicas: int, peers: Peers, log: Callable[[str], None]) -> int:
    """Return the number of parts of each device's share of a batch, as in an earlier run."""
    earlier = peers.of_chief(replicas_of_earlier(options) if peers.cluster.is_chief else 0)
    if options.evaluate and not options.saves:
        return 1  # An evaluation divides no updates among devices.
    parts = options.hparams.parts(replicas)
    if options.hparams.effective_batch_size or earlier <= replicas or earlier % replicas:
        return parts
    parts = earlier // replicas
    log(f"the run began on {earlier} devices: each of {replicas} now computes {parts} shares")
    return parts


def _built(
    options: RunOptions, record: RunRecord, schedule: FactorSchedule, strategy: Any
) -> Built:
    """Return the model and its optimizer."""
    with explained("building the model", "lower its sizes in --hparams"):
        return build(
            options.hparams,
            name=options.model,
            vocab_size=record.vocab_size,
            target_vocab_size=record.target_vocab_size,
            schedule=schedule,
            seed=options.random_seed,
            strategy=strategy,
        )


def _start(
    options: RunOptions, model: Any, vocabularies: Vocabularies, log: Callable[[str], None]
) -> None:
    """Give a new run the weights that it starts from; those of an earlier one are read later."""
    if not checkpoints.complete(options.output_dir):
        taken = _warm_start(options, model, vocabularies, log)
        if warning := _frozen_warning(model, taken):
            log(warning)
    elif options.warm_start_from:
        log(f"{options.output_dir} has checkpoints: --warm_start_from is ignored")


def _warm_start(
    options: RunOptions, model: Any, vocabularies: Vocabularies, log: Callable[[str], None]
) -> tuple[str, ...]:
    """Start from the weights of another run if there is one; return the names of those taken."""
    if not options.warm_start_from:
        return ()
    started = warm_start(
        model,
        options.warm_start_from,
        vocabularies=vocabularies,
        other_vocabulary=options.warm_start_vocab,
    )
    log(str(started))
    return started.report.matched


def _frozen_warning(model: Any, taken: Collection[str]) -> str:
    """Return a warning if variables are frozen that were not taken from another run; else ""."""
    names = [
        name
        for name, variable in checkpoints.model_variables(model).items()
        if not variable.trainable and name not in taken
    ]
    if not names:
        return ""
    listed = ", ".join(names[:3]) + f" and {len(names) - 3} more" * (len(names) > 3)
    return (
        f"WARNING: {counted(len(names), 'frozen variable')} will keep initial values, random where "
        f"--warm_start_from provides none: {listed}"
    )


def _share_trained(model: Any) -> str:
    """Return a line with the number of parameters that are trained, and of all."""
    fixed = [v for v in model.non_trainable_variables if v.name != "seed_generator_state"]
    trained, total = (
        sum(math.prod(v.shape) for v in variables)
        for variables in (model.trainable_variables, [*model.trainable_variables, *fixed])
    )
    return f"{trained:,} of {total:,} parameters are trained"


def _accumulation(hparams: TrainingHParams, parts: int, replicas: int) -> str:
    """Return a line that says how an update adds up its gradients."""
    return (
        f"effective_batch_size={hparams.effective_batch_size}: each update adds up the "
        f"gradients of {parts} parts of batch_size={hparams.batch_size}"
        + (f" on each of {replicas} replicas" if replicas > 1 else "")
    )


def _trackers(options: RunOptions, record: RunRecord) -> list[Tracker]:
    settings = {**record.hparams, "problem": record.problem, "hparams_set": record.hparams_set}
    return make_trackers(options.trackers, pathlib.Path(options.output_dir), settings)
