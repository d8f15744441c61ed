"""The folder of a run: saving checkpoints, keeping the best one, and resuming."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import keras

from t2t_phrase.config import UserError
from t2t_phrase.data.input.pipeline import Position
from t2t_phrase.io import files
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.checkpoints import CheckpointWriteError
from t2t_phrase.runs.history import FILE as HISTORY_FILE
from t2t_phrase.runs.history import History
from t2t_phrase.runs.kept_vocabularies import copy_vocabularies
from t2t_phrase.runs.record import FILE as RECORD_FILE
from t2t_phrase.runs.translations import BestTranslations

# Folders that commands make below that of a run.
BEST, AVERAGED = "best", "averaged"
# Slots of an optimizer: Keras' name of a moving average, and the weights that are averaged.
_AVERAGE, _TRAINED = "average", "trained"
# In the state of a checkpoint that was saved between regular ones.
_IRREGULAR = "irregular"


class RunDirectory:
    """Saves a run and resumes it.

    If a checkpoint cannot be written, `save` logs a warning and keeps the error in `unsaved`;
    earlier checkpoints are not affected. `save_scores` does the same in `unscored`.

    If the optimizer keeps moving averages of the weights, checkpoints hold the averages as the
    model, and the weights themselves as part of the optimizer's state.

    Args:
        folder: `--output_dir`.
        model: its weights are saved.
        optimizer: a built optimizer; its state is saved.
        keep: number of checkpoints to keep; older ones are deleted.
        period: steps between regular checkpoints. Others, such as one saved at a signal, are
            deleted with the next save, so that averages are over regular ones. Each checkpoint
            notes whether it was regular, since a resumed run may have another period.
        writes: whether this process writes files; only one of several workers does.
        log: called with one line of text.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        model: keras.Model,
        optimizer: keras.optimizers.Optimizer,
        keep: int,
        period: int,
        writes: bool = True,
        log: Callable[[str], None] = print,
    ) -> None:
        self.folder = pathlib.Path(folder)
        self.unsaved: CheckpointWriteError | None = None
        self.unscored: files.WriteError | None = None
        self._weights = checkpoints.model_variables(model)
        self._model, self._optimizer = (
            dict(self._weights),
            checkpoints.optimizer_variables(optimizer, model),
        )
        self._averages = moving_averages(optimizer, model)
        for name, average in self._averages.items():
            # The averages are the result of training; the trained weights belong to its state.
            self._model[name] = average
            del self._optimizer[f"{name}/{_AVERAGE}"]
            self._optimizer[f"{name}/{_TRAINED}"] = self._weights[name]
        self._keep, self._period, self._writes, self._log = keep, period, writes, log
        self._irregular: dict[str, bool] = {}

    @property
    def variables(self) -> list[keras.Variable]:
        """The variables that `restore` sets."""
        return [*self._model.values(), *self._optimizer.values()]

    @property
    def weights(self) -> list[keras.Variable]:
        """The variables that `restore_weights` sets."""
        return list(self._weights.values())

    def restore(self) -> tuple[int, Position]:
        """Set weights and optimizer from the latest checkpoint, if there is one.

        Returns:
            (number of updates, position in the data).

        Raises:
            UserError: the checkpoint is damaged, or holds another model's weights or no optimizer.
        """
        latest = checkpoints.latest(self.folder)
        if latest is None:
            return 0, Position()
        self._assign(latest, "model", self._model)
        if not checkpoints.has_optimizer(latest):
            raise UserError(
                f"cannot resume from {latest}: it has weights only, as averages do; give a new "
                "--output_dir and start from these weights with --warm_start_from"
            )
        self._assign(latest, "optimizer", self._optimizer)
        step = checkpoints.read_step(latest)
        state = checkpoints.read_state(latest)
        if "position" not in state:
            raise UserError(
                f"cannot resume from {latest}: it does not say where in the data it was saved; "
                "give a new --output_dir and start from its weights with --warm_start_from"
            )
        position = Position(**state["position"])
        self._log(f"resuming from {latest} (step {step})")
        return step, position

    def restore_scores(self, step: int) -> History:
        """Return the development scores of a run that is resumed from `step`.

        If the earlier scores are gone, or the best checkpoint is a later one, both of which may be
        on purpose, the log says so.

        Raises:
            UserError: `evaluations.json` cannot be read, or is damaged.
        """
        # Scores in a folder without a checkpoint are from another run.
        history = History.load(self.folder, until=step) if step else History()
        best = checkpoints.complete(self.folder / BEST)
        if step and best and _step_of(best[-1]) > step:
            self._log(
                f"{best[-1]} is later than step {step}: it is kept until a new evaluation is the "
                "best so far"
            )
        if step and best and not history.scores:
            self._log(
                f"{self.folder / HISTORY_FILE} has no scores up to step {step}, though there is a "
                "best checkpoint: from now on, only later scores decide what is best and when to "
                "stop early"
            )
        return history

    def restore_weights(self) -> int:
        """Set only the weights from the latest checkpoint; return its step, 0 if there is none.

        Raises:
            UserError: the checkpoint holds another model's weights.
        """
        latest = checkpoints.latest(self.folder)
        if latest is None:
            return 0
        self._assign(latest, "model", self._weights)
        return checkpoints.read_step(latest)

    @contextlib.contextmanager
    def averaged_weights(self) -> Iterator[None]:
        """Give the model the moving averages of its weights, if the optimizer keeps them."""
        trained = {name: self._weights[name].numpy() for name in self._averages}
        for name, average in self._averages.items():
            self._weights[name].assign(average)
        try:
            yield
        finally:
            for name, value in trained.items():
                self._weights[name].assign(value)

    def _assign(self, path: str, group: str, variables: dict[str, keras.Variable]) -> None:
        report = checkpoints.assign(path, variables, group=group)
        if report.missing or report.mismatched:
            raise UserError(f"cannot resume from {path}: its {group} differs: {report}")

    def save(self, step: int, position: Position) -> bool:
        """Write `model.ckpt-STEP` and delete the oldest; return whether it could be written."""
        if not self._writes:
            return True
        path = str(self.folder / f"{checkpoints.PREFIX}-{step}")
        self._irregular[path] = step % self._period != 0
        state: dict[str, Any] = {"position": position._asdict()}
        if self._irregular[path]:
            state[_IRREGULAR] = True
        try:
            checkpoints.write(
                path,
                model=self._model,
                optimizer=self._optimizer,
                step=step,
                state=state,
            )
            kept, dropped = self._rotate(path)
            checkpoints.set_latest(self.folder, kept)
            for old in dropped:
                checkpoints.delete(old)
        except CheckpointWriteError as error:
            self.unsaved = error
            self._log(f"WARNING: {error}; training continues until the next checkpoint")
            return False
        self.unsaved = None
        self._log(f"saved {path}")
        return True

    def saved_steps(self) -> set[int]:
        """Return the steps of all checkpoints, including the best one."""
        paths = [*checkpoints.complete(self.folder), *checkpoints.complete(self.folder / BEST)]
        return {_step_of(path) for path in paths}

    def save_scores(self, history: History, best: int | None) -> None:
        """Keep the best checkpoint in `best/`, then write `evaluations.json`.

        Scores that are written therefore have their best checkpoint. An error is logged, and kept
        in `unscored`.

        Args:
            history: all scores.
            best: step of the checkpoint to keep; None: it has been kept before.
        """
        if not self._writes:
            return
        place = self.folder / BEST
        try:
            if best is not None:
                self.keep_best(best)
            place = self.folder
            history.save(self.folder)
        except OSError as error:
            if not isinstance(error, files.WriteError):
                error = files.explain_os_error(error, place)
            self.unscored = error
            self._log(
                f"WARNING: the scores could not be saved: {self.unscored}; training continues"
            )
        else:
            self.unscored = None

    def save_translations(self, translations: BestTranslations) -> None:
        """Write the translations with the best score; a failure is only logged."""
        if not self._writes:
            return
        try:
            translations.save(self.folder)
        except files.WriteError as error:
            self._log(
                f"WARNING: the best translations could not be saved: {error}; training continues"
            )

    def keep_best(self, step: int) -> None:
        """Make the checkpoint of `step` the only one in `best/`, if it still exists.

        Raises:
            OSError: a file cannot be written.
        """
        source = self.folder / f"{checkpoints.PREFIX}-{step}"
        if not self._writes or str(source) not in checkpoints.complete(self.folder):
            return
        best = self.folder / BEST
        best.mkdir(exist_ok=True)
        (best / f"{source.name}.index").unlink(missing_ok=True)
        for file in checkpoints.files_of(source):
            _link(file, best / file.name)
        files.sync(best)
        if (self.folder / RECORD_FILE).exists():
            files.write(best / RECORD_FILE, (self.folder / RECORD_FILE).read_bytes())
            copy_vocabularies(self.folder, best)
        target = str(best / source.name)
        checkpoints.set_latest(best, [target])
        for old in checkpoints.complete(best):
            if old != target:
                checkpoints.delete(old)

    def _rotate(self, newest: str) -> tuple[list[str], list[str]]:
        """Return the checkpoints to keep and those to delete."""
        steps = {path: _step_of(path) for path in checkpoints.complete(self.folder)}
        # Later ones were abandoned by resuming from an earlier one.
        past = [path for path, step in steps.items() if step < steps[newest]]
        regular = [path for path in past if not self._is_irregular(path)]
        kept = [*regular[max(0, len(regular) - self._keep + 1) :], newest]
        return kept, [path for path in steps if path not in kept]

    def _is_irregular(self, path: str) -> bool:
        """Return whether a checkpoint was saved between regular ones, in this process or before."""
        if path not in self._irregular:
            try:
                self._irregular[path] = _IRREGULAR in checkpoints.read_state(path)
            except UserError:
                self._irregular[path] = False  # It is damaged.
        return self._irregular[path]


def _step_of(path: str) -> int:
    return int(path.rpartition("-")[2])


def moving_averages(
    optimizer: keras.optimizers.Optimizer, model: keras.Model
) -> dict[str, keras.Variable]:
    """Return the moving averages that an optimizer keeps, by the names of the model's weights.

    Args:
        optimizer: a built optimizer, with or without `use_ema`.
        model: the model whose weights it updates.
    """
    # An optimizer with loss scaling contains the one that makes the updates.
    if not getattr(optimizer, "inner_optimizer", optimizer).use_ema:
        return {}
    slots = checkpoints.optimizer_variables(optimizer, model)
    names = (name for name in checkpoints.model_variables(model) if f"{name}/{_AVERAGE}" in slots)
    return {name: slots[f"{name}/{_AVERAGE}"] for name in names}


def _link(source: pathlib.Path, target: pathlib.Path) -> None:
    """Make `target` a hard link, which takes no space, or a copy where links are not possible."""
    temporary = target.with_name(f".{target.name}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        os.link(source, temporary)
    except OSError:
        shutil.copy(source, temporary)
        files.sync(temporary)
    os.replace(temporary, target)
    # Renaming a link to another link of the same file does nothing.
    temporary.unlink(missing_ok=True)
