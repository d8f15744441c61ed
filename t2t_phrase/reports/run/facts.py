"""The state of a run, read from its folder and its data folder."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Callable
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.manifest import Manifest, manifest_path
from t2t_phrase.data.problem import Problem
from t2t_phrase.io.files import expanded
from t2t_phrase.reports.run.scalars import Scalars, read_scalars
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import Command, read_commands
from t2t_phrase.runs.directory import BEST
from t2t_phrase.runs.history import History
from t2t_phrase.runs.log import FILE as LOG
from t2t_phrase.runs.problem import problem_of
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.runs.translations import BestTranslations

# Lines of the log that a page shows.
LAST_LINES = 8
# Bytes at the end of the log that are searched for these lines.
_END = 20_000


@dataclasses.dataclass(frozen=True)
class Best:
    """The best evaluation of a run.

    Attributes:
        step: number of updates.
        metric: "bleu", or "loss" if nothing was translated.
        value: the score.
        signature: sacreBLEU's; "": unknown.
    """

    step: int
    metric: str
    value: float
    signature: str = ""


@dataclasses.dataclass(frozen=True)
class RunFacts:
    """Everything known about a run without loading its model.

    Attributes:
        folder: `--output_dir`.
        data_dir: folder of the data.
        record: the settings.
        problem: the corpus.
        manifest: of the data; None if it is missing or damaged.
        scores: of the development set.
        scalars: of the training, see `read_scalars`.
        best: the best evaluation; None if there is none.
        translations: of the development set at that step; None if they are not recorded.
        commands: those that trained it; [] if they are not recorded.
        saved: step of the latest checkpoint; 0 without a checkpoint.
        parameters: number of weights in the best or latest checkpoint; None without a checkpoint.
        log: the last lines of `train.log`, each with its time.
        began: the time of the log's first line; "" without a log.
    """

    folder: pathlib.Path
    data_dir: pathlib.Path
    record: RunRecord
    problem: Problem
    manifest: Manifest | None
    scores: History
    scalars: Scalars
    best: Best | None
    translations: BestTranslations | None
    commands: list[Command]
    saved: int
    parameters: int | None
    log: list[str]
    began: str

    @property
    def steps(self) -> int:
        """The last step for which anything is recorded."""
        reported = [points[-1].step for points in self.scalars.values()]
        return max([self.saved, *self.scores.scores, *reported])


def read_facts(
    output_dir: str | os.PathLike[str],
    data_dir: str | os.PathLike[str],
    *,
    log: Callable[[str], None],
) -> RunFacts:
    """Read the state of a run; files that are missing or damaged are left out.

    Args:
        output_dir: the run.
        data_dir: its data.
        log: called with a line for each damaged file.

    Raises:
        UserError: the folder holds no run, or its problem is unknown or not recorded.
    """
    folder, data = expanded(output_dir), expanded(data_dir)
    record = RunRecord.load(folder)
    if not record.problem:
        raise UserError(
            f"{folder} was imported without a problem, whose data a page shows; import it again "
            "with --problem"
        )
    problem = problem_of(record)

    def known(read: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return read()
        except UserError as error:
            log(f"left out: {error}")
            return otherwise

    scores = known(lambda: History.load(folder, until=2**62), History())
    translations = known(lambda: BestTranslations.load(folder), None)
    best = best_of(scores)
    if best is None or translations is None or translations.step != best.step:
        # They belong to an evaluation that was undone by a kill or an older checkpoint.
        translations = None
    elif best.metric == "bleu":
        best = dataclasses.replace(best, signature=translations.signature)
    began, lines = _ends_of_log(folder / LOG)
    return RunFacts(
        folder=folder,
        data_dir=data,
        record=record,
        problem=problem,
        manifest=known(lambda: Manifest.load(manifest_path(data, problem.base_name)), None),
        scores=scores,
        scalars=read_scalars(folder),
        best=best,
        translations=translations,
        commands=known(lambda: read_commands(folder), []),
        saved=known(lambda: step_of(folder), 0),
        parameters=known(lambda: parameters_of(folder), None),
        log=lines,
        began=began,
    )


def best_of(scores: History) -> Best | None:
    """Return the evaluation with the best BLEU, or, without any BLEU, with the least loss."""
    for metric in ("bleu", "loss"):
        step = scores.best(metric, lower=metric == "loss")
        if step is not None:
            return Best(step, metric, scores.of(metric)[step])
    return None


def best_checkpoint(folder: pathlib.Path) -> str | None:
    """Return the checkpoint in `best/`, or else the latest of the run; None: there is none."""
    return checkpoints.latest(folder / BEST) or checkpoints.latest(folder)


def step_of(folder: pathlib.Path) -> int:
    """Return the number of updates at the latest checkpoint; 0 without a checkpoint.

    Raises:
        UserError: the checkpoint is damaged.
    """
    latest = checkpoints.latest(folder)
    return 0 if latest is None else checkpoints.read_step(latest)


def parameters_of(folder: pathlib.Path) -> int | None:
    """Return the number of weights in the best or latest checkpoint; None: there is none.

    Raises:
        UserError: the checkpoint is damaged.
    """
    path = best_checkpoint(folder)
    return None if path is None else checkpoints.count_weights(path)


def _ends_of_log(path: pathlib.Path) -> tuple[str, list[str]]:
    """Return the time of the first line, and the last lines."""
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
            file.seek(max(0, path.stat().st_size - _END))
            rest = file.read(_END)
    except OSError:
        return "", []
    lines = rest.decode("utf-8", "replace").splitlines()
    return first.decode("utf-8", "replace").partition("  ")[0], lines[-LAST_LINES:]
