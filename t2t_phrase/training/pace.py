"""Watch for workers that the others wait for."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import NamedTuple

UPDATE = "update"
# Seconds of waiting in one update before a warning; the next warning comes after twice as long.
_WAIT = 10.0
# A worker is slow if its updates take this many times as long as those of the others.
_SLOW = 1.5


class State(NamedTuple):
    """The work that a worker does."""

    step: int = 0
    """The update that it works on, counted from 1; 0: it has not begun."""
    doing: str = "start"
    """`UPDATE`, or an activity that may take longer."""
    seconds: float = 0.0
    """Seconds that its own part of an update takes, its data included; 0: not known."""


class Pace:
    """Finds workers that are behind, from the states of all workers.

    Args:
        name: returns the name of a worker for messages.
        limit: seconds that a worker may keep the others waiting in one update.
    """

    def __init__(self, name: Callable[[int], str], limit: float) -> None:
        self._name, self._limit = name, limit
        self._behind: dict[int, tuple[int, float]] = {}
        """For each worker that is behind, its step and the time when it fell behind."""
        self._next = _WAIT
        self._said: dict[int, float] = {}

    def warnings(self, states: Mapping[int, State], now: float) -> list[str]:
        """Return a sentence for each worker that is newly slow, or behind.

        Args:
            states: the states of all workers, by number.
            now: the time in seconds, from any origin.
        """
        found = []
        worker, waited = self._waited_for(states, now)
        if worker is None:
            self._next = _WAIT
        elif waited >= self._next:
            self._next *= 2
            found.append(
                f"{self._name(worker)} has kept the others waiting for {waited:.0f} s (it is at "
                f"step {states[worker].step})"
            )
        return found + self._slow(states)

    def stuck(self, states: Mapping[int, State], now: float) -> str:
        """Return a sentence about a worker that has kept the others waiting too long, or "".

        Args:
            states: the states of all workers, by number.
            now: the time in seconds, from the same origin as in `warnings`.
        """
        worker, waited = self._waited_for(states, now)
        if worker is None or waited < self._limit:
            return ""
        step = states[worker].step
        return f"{self._name(worker)} is alive, but has been at step {step} for {waited:.0f} s"

    def _waited_for(self, states: Mapping[int, State], now: float) -> tuple[int | None, float]:
        """Return the worker that has been behind the longest, and for how many seconds."""
        first = max(state.step for state in states.values())
        before, self._behind = self._behind, {}
        for worker, (step, doing, _) in states.items():
            # Only updates have a time limit; evaluations do not.
            if 0 < step < first and doing == UPDATE:
                then, since = before.get(worker, (step, now))
                self._behind[worker] = step, since if then == step else now
        if not self._behind:
            return None, 0.0
        worker = min(self._behind, key=lambda worker: self._behind[worker][1])
        return worker, now - self._behind[worker][1]

    def _slow(self, states: Mapping[int, State]) -> list[str]:
        known = {worker: state.seconds for worker, state in states.items() if state.seconds}
        if len(known) < max(2, len(states)):
            return []
        slowest = max(known, key=known.__getitem__)
        others = statistics.median(s for worker, s in known.items() if worker != slowest)
        ratio = known[slowest] / others
        # Repeated only if the ratio has become much worse.
        if ratio < _SLOW * self._said.get(slowest, 1.0):
            return []
        self._said[slowest] = ratio
        return [
            f"{self._name(slowest)} is the slowest: its part of an update takes "
            f"{known[slowest]:.3g} s, that of the others {others:.3g} s, and all wait for it"
        ]
