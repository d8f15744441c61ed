"""Data generation and training as one call each."""

from __future__ import annotations

import contextlib
import dataclasses
import signal
from collections.abc import Callable
from typing import Any

from t2t_phrase import registry
from t2t_phrase.api.dev_bleu import dev_bleu
from t2t_phrase.api.equivalent_flags import equivalent_flags
from t2t_phrase.api.loading import TrainedTranslator, load
from t2t_phrase.config import UserError, nearest
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.workers import refuse_in_imported_main
from t2t_phrase.data.problem import get_problem
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.io.files import expanded
from t2t_phrase.reports.run.write import FILE as PAGE
from t2t_phrase.reports.run.write import report_of_training
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import Command, add_command, last_value, read_commands
from t2t_phrase.runs.earlier_options import with_earlier_options
from t2t_phrase.runs.log import RunLog
from t2t_phrase.runs.record import resolve_hparams
from t2t_phrase.runs.writing import writing
from t2t_phrase.training.cluster import read_cluster
from t2t_phrase.training.distribution import has_gpu, make_strategy
from t2t_phrase.training.loop_options import LoopOptions
from t2t_phrase.training.run_options import RunOptions
from t2t_phrase.training.setup import prepare

# Fields of `RunOptions` that are no options of `train`: its other arguments fill them in, and a run
# that saved nothing would leave no model to return.
_NO_OPTIONS = {"problem", "data_dir", "output_dir", "model", "hparams_set", "overrides", "hparams"}
_NO_OPTIONS |= {"saves"}


def generate_data(
    problem: str,
    *,
    data_dir: str,
    tmp_dir: str,
    t2t_usr_dir: str = "",
    log: Callable[[str], None] = print,
    **options: Any,
) -> None:
    """Make the vocabularies and record shards of a problem, as t2t-phrase-datagen does.

    Large corpora are read by several processes, each of which imports the main module. A script
    must therefore call this below `if __name__ == "__main__":`.

    Args:
        problem: registered name of the problem.
        data_dir: folder for the data.
        tmp_dir: folder of the raw corpus.
        t2t_usr_dir: folder with the user's own registrations.
        log: called with lines of progress.
        **options: fields of `GenerateOptions`, such as `vocab_size=8000`.

    Raises:
        UserError: the problem or an option is unknown, the corpus is missing or faulty, or a script
            calls this where each process would call it again.

    Example:
        ```python
        if __name__ == "__main__":
            t2t_phrase.generate_data("translate_text", data_dir="data", tmp_dir="corpus")
        ```
    """
    refuse_in_imported_main("generate_data")
    registry.discover(t2t_usr_dir and str(expanded(t2t_usr_dir)))
    chosen = GenerateOptions().replace(**options)
    generate(get_problem(problem), data_dir, tmp_dir, options=chosen, log=log)


def train(
    problem: str,
    hparams_set: str,
    *,
    data_dir: str,
    output_dir: str,
    hparams: str = "",
    loop: LoopOptions | None = None,
    log: Callable[[str], None] = print,
    **options: Any,
) -> TrainedTranslator:
    """Train a model, or resume its training, as t2t-phrase-trainer does; return the model.

    At the end, `report.html` in `output_dir` shows how the training went. The run records the flags
    of the same training, so that `t2t-phrase-trainer --output_dir=... --data_dir=...` resumes it. A
    run that the command began with `--decode_hparams`, `--eval_steps` or
    `--noeval_run_autoregressive` keeps them, so that the scores of its development set remain
    comparable.

    SIGTERM, SIGHUP and Ctrl-C stop the training after the current step, with a checkpoint. There is
    then no report, and an exception is raised: the training has not finished.

    Args:
        problem: registered name of the problem; the suffix `_rev` reverses the direction.
        hparams_set: registered name of the set of hyperparameters.
        data_dir: folder of the data.
        output_dir: folder of the run.
        hparams: changes to the set, such as `batch_size=2048,num_heads=4`.
        loop: when to stop, report and evaluate; None: 250,000 steps, evaluated every 1000.
        log: called with lines of progress; `train.log` in `output_dir` keeps them, with the time.
        **options: further fields of `RunOptions`, such as `random_seed=1`,
            `warm_start_from="runs/other"` and `t2t_usr_dir="registrations"`.

    Raises:
        UserError: a name or option is unknown, data are missing, `output_dir` holds a run with
            other settings, early stopping watches a score that is not computed, `TF_CONFIG`
            names other workers, or Keras uses neither TensorFlow nor JAX.
        KeyboardInterrupt: the training was stopped by Ctrl-C.
        SystemExit: it was stopped by another signal; the code is 128 plus its number.

    Example:
        ```python
        model = t2t_phrase.train(
            "translate_text",
            "phrase_interleaved_convkv_1_2_10k",
            data_dir="data",
            output_dir="runs/mine",
            hparams="r_drop=3.0",
            loop=t2t_phrase.LoopOptions(train_steps=6000, local_eval_frequency=300),
        )
        model.translate(["A house ."])
        ```
    """
    if read_cluster().workers > 1:
        raise UserError("TF_CONFIG names other workers: train with t2t-phrase-trainer, or unset it")
    known = [each.name for each in dataclasses.fields(RunOptions) if each.name not in _NO_OPTIONS]
    for name in options:
        if name in known:
            continue
        if name in {field.name for field in dataclasses.fields(LoopOptions)}:
            raise UserError(f"train: {name} belongs in loop=LoopOptions({name}=...)")
        raise UserError(f"train: {name} is unknown{nearest(name, known)}")
    for name in ("t2t_usr_dir", "warm_start_from"):
        if options.get(name, "") is None:
            del options[name]
    user_dir = options.get("t2t_usr_dir", "")
    if user_dir:
        # The run records it, for commands in other folders.
        options["t2t_usr_dir"] = user_dir = str(expanded(user_dir).resolve())
    registry.discover(user_dir)
    folder = str(expanded(output_dir))
    changed, told = resolve_hparams(hparams_set, hparams)
    said = [f"hparams: {line}" for line in told]
    changed = with_earlier_options(changed, hparams, folder)
    decoding, eval_steps, autoregressive = _evaluation_of_run(folder)
    if "eval_steps" not in options and eval_steps != RunOptions.eval_steps:
        said.append(f"settings of the run in {folder}: --eval_steps={eval_steps}")
        options["eval_steps"] = eval_steps
    run = RunOptions(
        problem=get_problem(problem),
        data_dir=str(expanded(data_dir)),
        output_dir=folder,
        model=changed.model,
        hparams_set=hparams_set,
        overrides=hparams,
        hparams=changed,
        **{"random_seed": 1234, **options},
    )
    translates = run.evaluate and not registry.models[run.model].capabilities.cannot_translate
    if translates and not autoregressive:
        said.append(f"settings of the run in {folder}: --eval_run_autoregressive=false")
        translates = False
    if decoding and translates:
        said.append(f"settings of the run in {folder}: --decode_hparams={decoding}")
    strategy = make_strategy()
    loop = loop or LoopOptions(train_steps=250_000, try_largest_batch=has_gpu())
    with writing(folder):
        log = RunLog(expanded(output_dir), log)
        for line in said:
            log(line)
        prepared = prepare(
            run,
            loop,
            strategy=strategy,
            bleu=dev_bleu(run, DecodeHParams().override(decoding), log=log) if translates else None,
            log=log,
        )
        add_command(folder, equivalent_flags(run, loop), log=log)
        stopped_by = prepared.trainer.train().signal
        if stopped_by == signal.SIGINT:
            raise KeyboardInterrupt
        if stopped_by:
            raise SystemExit(128 + stopped_by)
        report_of_training(folder, run.data_dir, PAGE, log=log)
    return load(folder, data_dir=run.data_dir, t2t_usr_dir=user_dir)


def _evaluation_of_run(folder: str) -> tuple[str, int, bool]:
    """Return the options with which the last commands of a run evaluate it.

    Returns:
        The values of --decode_hparams, --eval_steps and --eval_run_autoregressive.
    """
    commands: list[Command] = []
    if checkpoints.complete(folder):
        with contextlib.suppress(UserError):  # `add_command` warns of it.
            commands = read_commands(folder)
    steps = last_value(commands, "eval_steps")
    return (
        last_value(commands, "decode_hparams"),
        int(steps) if steps.isdecimal() else RunOptions.eval_steps,
        last_value(commands, "eval_run_autoregressive", switch=True) != "false",
    )
