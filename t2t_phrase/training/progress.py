"""The progress line."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping

from t2t_phrase.models.base import Mean
from t2t_phrase.training import means

# Figures of a report besides the means that the model reports.
_SPEED = ("tokens_per_second", "steps_per_second", "non_pad", "input_wait", "seconds_left")


@dataclasses.dataclass
class Progress:
    """Counts updates, tokens and time since the last progress line.

    Args:
        train_steps: the step at which training ends.
        step: the step at which it begins.
    """

    train_steps: int
    step: int = 0

    def __post_init__(self) -> None:
        self._first_step = self.step
        self._paused = self._compiled = 0.0
        self._any_timed = False
        self._began = time.perf_counter()
        self._reset()

    def _reset(self) -> None:
        self._start, self._pause, self._compiling = time.perf_counter(), 0.0, 0.0
        self._timed = False
        self._tokens = self._size = self._steps = 0
        self._waited = 0.0
        self._means: dict[str, Mean] = {}

    def add(
        self,
        reported: Mapping[str, Mean],
        *,
        tokens: int,
        size: int,
        waited: float,
        compiled: bool = False,
    ) -> None:
        """Count one update.

        Args:
            reported: the means that the model reports.
            tokens: source and target tokens.
            size: the same with padding.
            waited: seconds spent waiting for the batch.
            compiled: whether it was compiled, so that its time says nothing about others.
        """
        self.step += 1
        self._timed |= not compiled
        self._any_timed |= not compiled
        self._steps += 1
        self._means = means.add(self._means, reported)
        self._tokens += tokens
        self._size += size
        self._waited += waited

    def skip(self) -> None:
        """Count a step whose update was left out."""
        self.step += 1

    def pause(self, seconds: float) -> None:
        """Exclude time that was not spent on training."""
        self._pause += seconds
        self._paused += seconds

    def pause_to_compile(self, seconds: float) -> None:
        """Exclude the time of a compilation; it counts only if there are no other updates."""
        self._compiling += seconds
        self._compiled += seconds

    def take(self) -> dict[str, float]:
        """Return the averages since the last call, and start over."""
        report = self.averages()
        self._reset()
        return report

    def averages(self) -> dict[str, float]:
        """Return the averages since the last call of `take`.

        Besides the means that the model reports: tokens_per_second counts source and target tokens,
        non_pad and input_wait are shares, seconds_left includes neither evaluations nor
        compilations and is NaN until an update was not compiled.
        """
        now = time.perf_counter()
        compiling = self._compiling if self._timed else 0.0
        elapsed = max(now - self._start - self._pause - compiling, 1e-9)
        trained = max(self.step - self._first_step, 1)
        spent = now - self._began - self._paused - self._compiled
        per_step = spent / trained if self._any_timed else math.nan
        return {
            **means.values(self._means),
            "tokens_per_second": self._tokens / elapsed,
            "steps_per_second": self._steps / elapsed,
            "non_pad": self._tokens / max(self._size, 1),
            "input_wait": min(self._waited / elapsed, 1.0),
            "seconds_left": per_step * (self.train_steps - self.step),
        }

    def line(self, report: dict[str, float], *, rate: float, grad_norm: float) -> str:
        """Return the progress line for a report."""
        shown = {name: value for name, value in report.items() if name not in _SPEED}
        return (
            f"step {self.step}/{self.train_steps}  {means.describe(shown)}  "
            f"lr {rate:.3g}  grad norm {grad_norm:.3g}  "
            f"{report['tokens_per_second']:.0f} tokens/s  non-pad {report['non_pad']:.0%}  "
            f"input wait {report['input_wait']:.0%}  left {clock(report['seconds_left'])}"
        )

    def short_line(self) -> str:
        """Return the part of the progress line that matters most, for the width of a terminal."""
        report = self.averages()
        shown = {name: value for name, value in report.items() if name not in _SPEED}
        return (
            f"step {self.step}/{self.train_steps}  left {clock(report['seconds_left'])}  "
            f"{report['tokens_per_second']:.0f} tokens/s  {means.describe(shown)}"
        )


def clock(seconds: float) -> str:
    """Return a time as h:mm:ss, and "?" for NaN."""
    if math.isnan(seconds):
        return "?"
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
