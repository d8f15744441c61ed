"""The training loop: update, report, save, evaluate, stop."""

from __future__ import annotations

import collections
import dataclasses
import json
import math
import signal
import statistics
import time
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.data.input.pipeline import Batch, Position, TrainingPipeline
from t2t_phrase.data.input.prefetch import Prefetcher
from t2t_phrase.io.files import WriteError
from t2t_phrase.io.out_of_memory import explained
from t2t_phrase.io.reporting import progress, refresh
from t2t_phrase.runs.directory import RunDirectory
from t2t_phrase.runs.history import History
from t2t_phrase.runs.translations import BestTranslations
from t2t_phrase.training.cluster import Cluster
from t2t_phrase.training.evaluate import DevScores, Evaluator
from t2t_phrase.training.loop_options import LoopOptions
from t2t_phrase.training.loss_scaling import LEAST_SCALE, is_scaled
from t2t_phrase.training.pace import UPDATE
from t2t_phrase.training.peers import Peers
from t2t_phrase.training.progress import Progress
from t2t_phrase.training.schedules import FactorSchedule
from t2t_phrase.training.signals import StopRequest
from t2t_phrase.training.stepper import BaseStepper, StepResult, Totals
from t2t_phrase.training.summaries import Summaries

# Seconds until the first progress line; users of a slow machine should know that it is working.
_FIRST_LINE = 10.0
_SMALLER_BATCHES = "lower batch_size or max_length in --hparams"


class Outcome(NamedTuple):
    """The end of a training run."""

    step: int
    reason: Literal["finished", "early", "signal"]
    signal: int = 0
    """Number of the signal that ended it, or 0."""


class _Pending(NamedTuple):
    step: int
    batch: Batch
    result: StepResult
    waited: float
    began: float
    compiled: bool


@dataclasses.dataclass
class Trainer:
    """Trains a model to the last step, or until it is asked to stop.

    With several workers, each runs a trainer, and all stop at the same step for the same reason.

    Args:
        stepper: makes the updates.
        pipeline: yields the batches.
        directory: saves the checkpoints.
        schedule: the learning rate, for the reports.
        options: when to stop, report, save and evaluate.
        evaluator: scores the development set; None: train only.
        summaries: writes TensorBoard scalars.
        log: called with one line of text.
        peers: told the current activity of this worker.
    """

    stepper: BaseStepper
    pipeline: TrainingPipeline
    directory: RunDirectory
    schedule: FactorSchedule
    options: LoopOptions
    evaluator: Evaluator | None
    summaries: Summaries
    log: Callable[[str], None] = print
    peers: Peers = dataclasses.field(default_factory=lambda: Peers(Cluster()))

    def train(self) -> Outcome:
        """Train until the last step, early stopping, or a signal.

        Raises:
            UserError: early stopping names an unknown metric, the data, the latest checkpoint or
                `evaluations.json` are damaged, or the loss is not finite. Checkpoints that were
                saved before are kept, also for the next two errors.
            WriteError: the last checkpoint, or its scores, could not be written; with several
                workers, any checkpoint or its scores.
            OutOfMemoryError: a batch does not fit in memory.
        """
        step, position, history = self._resume()
        # Skipped updates are steps, but not iterations of the optimizer.
        self._skipped = step - int(self.stepper.optimizer.iterations.numpy()) if step else 0
        self._progress = Progress(self.options.train_steps, step)
        self._first_line_at: float | None = time.monotonic() + _FIRST_LINE
        self._saved_at = time.monotonic()
        self._seconds: collections.deque[float] = collections.deque(maxlen=50)
        with StopRequest() as stop, Prefetcher(self.pipeline.batches(position)) as batches:
            try:
                outcome = self._run(step, position, history, stop, batches)
            finally:
                self.summaries.close()
        self._check_written(outcome.step)
        return outcome

    def _resume(self) -> tuple[int, Position, History]:
        """Let all workers start from the chief's state; only it reads the folder of the run."""
        agreement = self.stepper.agreement
        told = ""
        if agreement.is_chief:
            step, position = self.directory.restore()
            history = self.directory.restore_scores(step)
            told = json.dumps([step, position, list(history.scores.items())])
        step, position, scores = json.loads(agreement.text_of_chief(told))
        agreement.share(self.directory.variables)
        return step, Position(*position), History(dict(scores))

    def _check_written(self, step: int) -> None:
        if self.directory.unsaved is not None:
            raise WriteError(
                f"the last checkpoint, of step {step}, could not be saved: "
                f"{self.directory.unsaved}; run the same command again once it can be"
            )
        if self.directory.unscored is not None:
            raise WriteError(
                f"the scores of the last evaluation could not be saved: {self.directory.unscored}; "
                "run the same command again"
            )

    def evaluate(self) -> DevScores:
        """Score the latest checkpoint, which may be an average.

        Raises:
            UserError: there is no checkpoint.
        """
        agreement = self.stepper.agreement
        step = self.directory.restore_weights() if agreement.is_chief else 0
        step = int(agreement.of_chief([step])[0])
        agreement.share(self.directory.weights)
        if not step or self.evaluator is None:
            raise UserError(f"{self.directory.folder} holds no checkpoint to evaluate")
        scores = self._scores(step)
        self.log(f"step {step}: {scores}")
        return scores

    def _run(
        self,
        step: int,
        position: Position,
        history: History,
        stop: StopRequest,
        batches: Prefetcher[Batch],
    ) -> Outcome:
        options = self.options
        # A run that was killed during an evaluation has a checkpoint without scores.
        if step and self._evaluation_is_due(step) and step not in history.scores:
            self._evaluate(step, history)
        if step < options.train_steps:
            self._check_metric(history)
            if options.try_largest_batch:
                self._try_largest_batch()
        saved, pending = step, None
        while not (asked := self._asked_to_stop(stop)) and step < options.train_steps:
            if options.early_stopping.exhausted(history):
                return self._stopped_early(step, history)
            if pending is not None and self._line_is_due(pending.step):
                # So that the time of the next update is not part of this line.
                self._settle(pending)
                pending = None
            waited = batches.waited
            batch = next(batches)
            # A worker that still waits for its data is behind the others.
            self.peers.at(step + 1, UPDATE, self._pace())
            with explained(batch.describe, _SMALLER_BATCHES):
                began, compiling = time.time(), -self.stepper.compile_seconds
                result = self.stepper.train(
                    batch.features, Totals(batch.target_tokens, len(batch.numbers))
                )
            compiling += self.stepper.compile_seconds
            self._progress.pause_to_compile(compiling)
            step, position = step + 1, batch.position
            # The figures of one update are read while the device computes the next.
            self._settle(pending)
            waited = batches.waited - waited
            pending = _Pending(step, batch, result, waited, began, compiling > 0)
            due = self._evaluation_is_due(step)
            if due or self._time_to_save():
                self.peers.at(step, "saving")
                self._settle(pending)
                pending = None
                if self._save(step, position):
                    saved = step
                if due:
                    self._evaluate(step, history)
                self.peers.at(step, UPDATE, self._pace())
        self._settle(pending)
        if asked:
            name = signal.Signals(asked).name
            if saved == step or self._save(step, position):
                self.log(f"stopped by {name} at step {step}; the same command resumes from here")
            return Outcome(step, "signal", asked)
        if step and options.early_stopping.exhausted(history):
            return self._stopped_early(step, history)
        if step > options.train_steps:
            self.log(f"--train_steps={options.train_steps}: the run is already at step {step}")
        else:
            self.log(f"finished at step {step} of {options.train_steps}")
        return Outcome(step, "finished")

    def _asked_to_stop(self, stop: StopRequest) -> int:
        """Return the number of the signal that any worker received, or 0."""
        return int(self.stepper.agreement.largest(stop.signal or 0))

    def _evaluation_is_due(self, step: int) -> bool:
        return step % self.options.local_eval_frequency == 0 or step == self.options.train_steps

    def _settle(self, done: _Pending | None) -> None:
        """Wait for the figures of an update, check and count them."""
        if done is None:
            return
        with explained(done.batch.describe, _SMALLER_BATCHES):
            tokens = max(float(done.result.tokens), 1.0)
            loss, norm = float(done.result.objective) / tokens, float(done.result.grad_norm)
            scale = float(done.result.loss_scale)
            self._seconds.append(float(done.result.ready) - done.began + done.waited)
        if not (math.isfinite(loss) and math.isfinite(norm)):
            if self._is_skipped(done, norm, scale):
                self._progress.skip()
                return
            named = "loss" if not math.isfinite(loss) else "gradient"
            raise UserError(
                f"step {done.step}: the {named} is not finite (training objective {loss} per "
                f"token, gradient norm {norm}) in {done.batch.describe()}; this step and those "
                "after the last checkpoint are not saved. Lower learning_rate_constant, raise "
                "learning_rate_warmup_steps or set clip_grad_norm, in a new --output_dir if this "
                "one has checkpoints"
            )
        self._progress.add(
            done.result.means,
            tokens=done.batch.tokens,
            size=done.batch.size,
            waited=done.waited,
            compiled=done.compiled,
        )
        if self._line_is_due(done.step):
            self._report(done.step, norm)
        elif self._first_line_at is not None and time.monotonic() >= self._first_line_at:
            self._first_line_at = None
            self._log_line(self._progress.averages(), norm)
        else:
            refresh(self.log, self._progress.short_line)

    def _is_skipped(self, done: _Pending, norm: float, scale: float) -> bool:
        """Return whether the update was left out, and the loss scale halved; log it."""
        scaled = is_scaled(self.stepper.optimizer) and not math.isfinite(norm)
        if not scaled or scale < LEAST_SCALE:
            return False
        self._skipped += 1
        self.log(
            f"step {done.step}: the gradient overflows float16 at loss scale {scale:g}; update "
            f"skipped ({self._skipped} so far), next scale {scale / 2:g}"
        )
        self.summaries.write("train", done.step, {"skipped_updates": float(self._skipped)})
        return True

    def _pace(self) -> float:
        """Return the seconds that this worker's own part of an update takes; 0: not known yet."""
        return statistics.fmean(self._seconds) if len(self._seconds) > 10 else 0.0

    def _line_is_due(self, step: int) -> bool:
        return step % self.options.log_step_count_steps == 0

    def _report(self, step: int, grad_norm: float) -> None:
        self._first_line_at = None
        report = self._progress.take()
        rate = self._log_line(report, grad_norm)
        shown = {name: value for name, value in report.items() if name != "seconds_left"}
        self.summaries.write(
            "train",
            step,
            {**shown, "learning_rate": rate, "grad_norm": grad_norm},
        )

    def _log_line(self, report: dict[str, float], grad_norm: float) -> float:
        """Log the progress line of the step that was counted last; return its learning rate."""
        rate = float(self.schedule(np.asarray(self._progress.step - 1 - self._skipped)))
        progress(self.log, self._progress.line(report, rate=rate, grad_norm=grad_norm))
        return rate

    def _save(self, step: int, position: Position) -> bool:
        start = time.perf_counter()
        saved = self.directory.save(step, position)
        if self.peers.cluster.workers > 1:
            # The time of all workers would be lost with the work that is not saved.
            self._check_written(step)
        self._saved_at = time.monotonic()
        self._progress.pause(time.perf_counter() - start)
        return saved

    def _time_to_save(self) -> bool:
        seconds = self.options.save_checkpoints_secs
        return bool(seconds) and time.monotonic() - self._saved_at >= seconds

    def _evaluate(self, step: int, history: History) -> None:
        if self.evaluator is None:
            return
        start = time.perf_counter()
        self.peers.at(step, "evaluation")
        refresh(self.log, lambda: f"step {step}: evaluating")
        scores = self._scores_of_averages(step)
        seconds = time.perf_counter() - start
        self.options.early_stopping.check(scores.to_dict())
        history.add(step, scores.to_dict())
        saved = self.directory.saved_steps()
        # BLEU also decides where only earlier evaluations of the run computed it.
        metric, best = "bleu", history.best("bleu", lower=False, among=saved)
        if best is None:
            metric, best = "loss", history.best("loss", lower=True, among=saved)
        is_best = best == step
        mark = f"  best {metric} so far" if is_best else ""
        if metric == "bleu" and scores.bleu is None:
            mark = f"  no BLEU, so best/ remains that of update {best}"
        self.log(f"step {step}: {scores}  {seconds:.0f} s{mark}")
        missed = self.directory.unscored is not None
        self.directory.save_scores(history, best if is_best or missed else None)
        if is_best and scores.bleu is not None and scores.translations:
            self.directory.save_translations(
                BestTranslations(step, scores.bleu, scores.signature, scores.translations)
            )
        self.summaries.write("eval", step, scores.to_dict())
        self._progress.pause(time.perf_counter() - start)

    def _check_metric(self, history: History) -> None:
        """Evaluate a batch if only that shows whether early stopping has its metric."""
        stopping = self.options.early_stopping
        if self.evaluator is None or stopping.is_common or history.of(stopping.metric):
            return
        with explained("the first batch of the evaluation", _SMALLER_BATCHES):
            stopping.check(self.evaluator.names())

    def _scores(self, step: int) -> DevScores:
        assert self.evaluator is not None
        with explained(
            f"the evaluation at step {step}",
            f"{_SMALLER_BATCHES}, or batch_size in --decode_hparams",
        ):
            return self.evaluator.evaluate()

    def _scores_of_averages(self, step: int) -> DevScores:
        with self.directory.averaged_weights():
            return self._scores(step)

    def _stopped_early(self, step: int, history: History) -> Outcome:
        stopping = self.options.early_stopping
        self.log(
            f"stopped early at step {step}: dev {stopping.metric} has not improved by more than "
            f"{stopping.delta:g} for {stopping.steps} steps, since step "
            f"{stopping.last_gain(history)}"
        )
        return Outcome(step, "early")

    def _try_largest_batch(self) -> None:
        buckets = self.pipeline.buckets
        largest = buckets.largest()
        rows, bound = buckets.rows[largest], buckets.bounds[largest]
        start = time.perf_counter()
        with explained(f"the largest batch, {rows} x {bound} tokens", _SMALLER_BATCHES):
            self.stepper.probe(self.stepper.fake_features(rows, bound, bound))
        self.log(
            f"the largest batch, {rows} x {bound} tokens, fits "
            f"({time.perf_counter() - start:.1f} s with compilation)"
        )
        self._progress = Progress(self.options.train_steps, self._progress.step)
