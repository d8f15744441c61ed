"""t2t-phrase-trainer: trains and evaluates a model; the same command resumes the run.

    t2t-phrase-trainer --problem=translate_text --hparams_set=transformer_30k --train_steps=8000 \\
        --data_dir=data --output_dir=runs/mine
    t2t-phrase-trainer --output_dir=runs/mine --data_dir=data
    t2t-phrase-trainer --registry_help=queryk

The second command resumes the run of the first; the third lists registered entries that contain a
word. `KERAS_BACKEND=jax` before the command trains with JAX instead of TensorFlow.
"""

from __future__ import annotations

import contextlib
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.bin.hparams_file import merged
from t2t_phrase.bin.registry_help import registered
from t2t_phrase.bin.resumed_flags import METRIC, OF_METRIC, take_flags_of_run
from t2t_phrase.bin.trainer_flags import define_flags
from t2t_phrase.config import UserError
from t2t_phrase.io.files import expanded
from t2t_phrase.io.terminal import Screen

if TYPE_CHECKING:
    from t2t_phrase.data.problem import Problem
    from t2t_phrase.training.loop_options import LoopOptions
    from t2t_phrase.training.peers import Peers
    from t2t_phrase.training.setup import Run

FLAGS = flags.FLAGS


def main(argv: Sequence[str]) -> None:
    """Train, evaluate, or show what would be trained."""
    del argv
    if FLAGS.registry_help:
        print(*registered(FLAGS.registry_help, t2t_usr_dir=FLAGS.t2t_usr_dir), sep="\n")
        return
    refuse_empty("hparams_file", "warm_start_from")
    registry.discover(FLAGS.t2t_usr_dir)
    log: Callable[[str], None] = Screen()
    take_flags_of_run(log)
    for name in ("problem", "hparams_set", "data_dir", "output_dir"):
        if not FLAGS[name].value:
            raise app.UsageError(_missing(name))
    if FLAGS["warm_start_vocab"].present and not FLAGS.warm_start_from:
        raise UserError("--warm_start_vocab requires --warm_start_from")
    # 0, if given, is meant.
    if not (FLAGS.eval_early_stopping_steps or FLAGS["eval_early_stopping_steps"].present):
        for name in (METRIC, *OF_METRIC):
            if FLAGS[name].present:
                raise UserError(f"--{name} requires --eval_early_stopping_steps")
    from t2t_phrase.data.problem import get_problem

    problem = get_problem(FLAGS.problem)
    if FLAGS.model:
        registry.models[FLAGS.model]
    from t2t_phrase.runs.earlier_options import with_earlier_options
    from t2t_phrase.runs.record import resolve_hparams

    overrides = merged(FLAGS.hparams_file, FLAGS.hparams)
    hparams, told = resolve_hparams(FLAGS.hparams_set, overrides)
    hparams = with_earlier_options(hparams, overrides, folder(FLAGS.output_dir))
    with joined_workers(log) as peers:
        train(problem, hparams, overrides, told, peers, log)


def _missing(name: str) -> str:
    """Return the fault of a required flag that is not given."""
    from t2t_phrase.runs import checkpoints

    given = FLAGS.output_dir
    reason = ""
    if name in ("problem", "hparams_set") and given and not checkpoints.complete(folder(given)):
        reason = f" for a new run, and {given} holds none to resume"
    return f"--{name} is required{reason}; --registry_help lists names"


def train(
    problem: Problem,
    hparams: Any,
    overrides: str,
    told: Sequence[str],
    peers: Peers,
    log: Callable[[str], None],
) -> None:
    """Do what the flags ask for.

    Args:
        problem: the problem to train on.
        hparams: the hparams set with its changes.
        overrides: these changes, in T2T's syntax.
        told: a description of each change, in one line.
        peers: the other workers.
        log: called with each line of output.
    """
    with output_folder() as writes:
        if writes:
            from t2t_phrase.runs.log import RunLog

            log = RunLog(pathlib.Path(folder(FLAGS.output_dir)), log)
        for line in told:
            log(f"--hparams: {line}")
        if FLAGS.generate_data and not problem.has_data(FLAGS.data_dir):
            from t2t_phrase.data.generation.generate import GenerateOptions, generate

            options = GenerateOptions(sampled_segmentations=hparams.sampled_segmentations)
            generate(problem, FLAGS.data_dir, folder(FLAGS.tmp_dir), options=options, log=log)
        run = prepared_run(problem, hparams, overrides, peers, log)
        if writes:
            from t2t_phrase.runs.commands import add_command

            # With the contents of --flagfile, which may change.
            given = FLAGS.read_flags_from_files(sys.argv[1:])
            add_command(folder(FLAGS.output_dir), given, log=log)
        if FLAGS.dry_run:
            from t2t_phrase.training.dry_run import dry_run

            dry_run(run, log=log)
        elif FLAGS.schedule == "evaluate":
            run.trainer.evaluate()
        else:
            outcome = run.trainer.train()
            if outcome.signal:
                # The code by which shells report a signal, so that `train && next` stops.
                sys.exit(128 + outcome.signal)
            if writes and FLAGS.report:
                from t2t_phrase.reports.run.write import report_of_training

                report_of_training(FLAGS.output_dir, FLAGS.data_dir, FLAGS.report, log=log)


@contextlib.contextmanager
def joined_workers(log: Callable[[str], None]) -> Iterator[Peers]:
    """Yield the other workers that `TF_CONFIG` names, once all of them have joined.

    Args:
        log: called with each line of output.
    """
    from t2t_phrase.training.cluster import read_cluster
    from t2t_phrase.training.peers import Peers

    with Peers(read_cluster(), timeout=FLAGS.worker_timeout, log=log) as peers:
        if peers.cluster.workers > 1:
            from t2t_phrase.training.distribution import devices_of_worker
            from t2t_phrase.training.facts import facts_of_process

            if FLAGS.generate_data:
                raise UserError(
                    "--generate_data: several workers would write the same files; run "
                    "t2t-phrase-datagen first"
                )
            peers.join(facts_of_process(devices_of_worker(FLAGS.worker_gpu)))
        yield peers


@contextlib.contextmanager
def output_folder() -> Iterator[bool]:
    """Claim --output_dir if this process writes there, and yield whether it does."""
    from t2t_phrase.runs.writing import writing
    from t2t_phrase.training.cluster import read_cluster

    if saves() and read_cluster().is_chief:
        with writing(folder(FLAGS.output_dir)):
            yield True
    else:
        yield False


def saves() -> bool:
    """Return whether the flags ask for training, and not for a task that leaves no files."""
    return not FLAGS.dry_run and FLAGS.schedule != "evaluate"


def prepared_run(
    problem: Problem, hparams: Any, overrides: str, peers: Peers, log: Callable[[str], None]
) -> Run:
    """Return the run that the flags describe.

    Args:
        problem: the problem to train on.
        hparams: the hparams set with its changes.
        overrides: these changes, in T2T's syntax.
        peers: the other workers.
        log: called with each line of output.
    """
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.training.distribution import make_strategy
    from t2t_phrase.training.run_options import RunOptions
    from t2t_phrase.training.setup import prepare

    options = RunOptions(
        problem=problem,
        data_dir=folder(FLAGS.data_dir),
        output_dir=folder(FLAGS.output_dir),
        model=FLAGS.model or hparams.model,
        hparams_set=FLAGS.hparams_set,
        overrides=overrides,
        hparams=hparams,
        random_seed=FLAGS.random_seed,
        warm_start_from=FLAGS.warm_start_from and folder(FLAGS.warm_start_from),
        warm_start_vocab=FLAGS.warm_start_vocab,
        keep_checkpoint_max=FLAGS.keep_checkpoint_max,
        eval_steps=FLAGS.eval_steps,
        evaluate=FLAGS.schedule != "train" and not FLAGS.dry_run,
        saves=saves(),
        xla=FLAGS.xla_compile,
        trackers=tuple(FLAGS.trackers),
        t2t_usr_dir=FLAGS.t2t_usr_dir and str(pathlib.Path(folder(FLAGS.t2t_usr_dir)).resolve()),
    )
    # Checked even if nothing is translated.
    decode_hparams = DecodeHParams().override(FLAGS.decode_hparams)
    log_unused_flags(log)
    bleu = None
    if FLAGS.eval_run_autoregressive and options.evaluate:
        reason = registry.models[options.model].capabilities.cannot_translate
        if not reason:
            from t2t_phrase.api.dev_bleu import dev_bleu

            bleu = dev_bleu(options, decode_hparams, log=log)
        else:
            log(f"the development set is not translated: {reason}")
    return prepare(
        options,
        loop_options(),
        strategy=make_strategy(worker_gpu=FLAGS.worker_gpu, patience=FLAGS.worker_timeout),
        peers=peers,
        bleu=bleu,
        log=log,
    )


def log_unused_flags(log: Callable[[str], None]) -> None:
    """Name the options of evaluations that are given, but change nothing.

    Args:
        log: called with each line of output.
    """
    names: tuple[str, ...] = ()
    if FLAGS.schedule == "train":
        names, reason = ("eval_steps", "decode_hparams"), "--schedule=train does not evaluate"
    elif not FLAGS.eval_run_autoregressive:
        names, reason = ("decode_hparams",), "--noeval_run_autoregressive does not translate"
    for name in names:
        if FLAGS[name].present:
            log(f"--{name} is not used: {reason}")


def loop_options() -> LoopOptions:
    """Return the options of the training loop that the flags set."""
    from t2t_phrase.training.distribution import has_gpu
    from t2t_phrase.training.early_stopping import EarlyStopping
    from t2t_phrase.training.loop_options import LoopOptions

    stopping = EarlyStopping(
        steps=FLAGS.eval_early_stopping_steps,
        metric=FLAGS.eval_early_stopping_metric,
        delta=FLAGS.eval_early_stopping_metric_delta,
        minimize=FLAGS.eval_early_stopping_metric_minimize,
    )
    return LoopOptions(
        train_steps=FLAGS.train_steps,
        local_eval_frequency=FLAGS.local_eval_frequency,
        log_step_count_steps=FLAGS.log_step_count_steps,
        try_largest_batch=has_gpu(),
        save_checkpoints_secs=FLAGS.save_checkpoints_secs,
        early_stopping=stopping,
    )


def folder(path: str) -> str:
    """Return the path with `~` expanded."""
    return str(expanded(path))


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=lambda: not FLAGS.registry_help)


if __name__ == "__main__":
    run()
