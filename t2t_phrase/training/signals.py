"""SIGTERM, SIGHUP and Ctrl-C stop the training after the current step."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from t2t_phrase.io.signals import heeded_signals

# A closing terminal sends SIGHUP, which some platforms lack, twice: itself, and by its shell.
_REPEATED = getattr(signal, "SIGHUP", None)


class StopRequest:
    """A context that stores the first signal in `signal`; a second one has its usual effect.

    Signals that the caller ignores stay ignored, and so does a second SIGHUP.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopRequest:
        # Python delivers signals to the main thread only.
        if threading.current_thread() is threading.main_thread():
            self._before = {
                asking: signal.signal(asking, self._note) for asking in heeded_signals()
            }
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore(*self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.signal is None:
            self.signal = signal.Signals(number)
        self._restore(*(asking for asking in self._before if asking != _REPEATED))

    def _restore(self, *numbers: signal.Signals) -> None:
        for asking in numbers:
            signal.signal(asking, self._before.pop(asking))
