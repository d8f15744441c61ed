"""The progress line."""

from __future__ import annotations

import dataclasses
import time


@dataclasses.dataclass
class Progress:
    """Adds up what happened since the last line.

    Args:
        train_steps: where training ends.
        step: where it begins.
    """

    train_steps: int
    step: int = 0

    def __post_init__(self) -> None:
        self._first_step = self.step
        self._paused = 0.0
        self._began = time.perf_counter()
        self._reset()

    def _reset(self) -> None:
        self._start, self._pause = time.perf_counter(), 0.0
        self._tokens = self._size = self._steps = 0
        self._loss = self._target_tokens = self._waited = 0.0

    def add(
        self, *, loss: float, target_tokens: float, tokens: int, size: int, waited: float
    ) -> None:
        """Count one update.

        Args:
            loss: summed over the target tokens.
            target_tokens: how many those are.
            tokens: source and target tokens.
            size: the same with padding.
            waited: seconds spent waiting for the batch.
        """
        self.step += 1
        self._steps += 1
        self._loss += loss
        self._target_tokens += target_tokens
        self._tokens += tokens
        self._size += size
        self._waited += waited

    def pause(self, seconds: float) -> None:
        """Leave out time that was not spent on training."""
        self._pause += seconds
        self._paused += seconds

    def take(self) -> dict[str, float]:
        """Return the averages since the last call, and begin anew.

        loss is a mean over target tokens; tokens_per_second counts source and target tokens;
        non_pad and input_wait are shares; seconds_left includes no evaluations to come.
        """
        now = time.perf_counter()
        elapsed = max(now - self._start - self._pause, 1e-9)
        trained = max(self.step - self._first_step, 1)
        per_step = (now - self._began - self._paused) / trained
        report = {
            "loss": self._loss / max(self._target_tokens, 1.0),
            "tokens_per_second": self._tokens / elapsed,
            "steps_per_second": self._steps / elapsed,
            "non_pad": self._tokens / max(self._size, 1),
            "input_wait": min(self._waited / elapsed, 1.0),
            "seconds_left": per_step * (self.train_steps - self.step),
        }
        self._reset()
        return report

    def line(self, report: dict[str, float], *, rate: float, grad_norm: float) -> str:
        """Return the progress line for a report."""
        return (
            f"step {self.step}/{self.train_steps}  loss {report['loss']:.4f}  "
            f"lr {rate:.3g}  grad norm {grad_norm:.3g}  "
            f"{report['tokens_per_second']:.0f} tokens/s  non-pad {report['non_pad']:.0%}  "
            f"input wait {report['input_wait']:.0%}  left {clock(report['seconds_left'])}"
        )


def clock(seconds: float) -> str:
    """Return h:mm:ss."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
