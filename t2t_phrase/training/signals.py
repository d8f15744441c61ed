"""SIGTERM and Ctrl-C stop the training after the current step."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_HANDLED = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """A context that stores the first signal in `signal`; a second one has its usual effect."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopRequest:
        # Python delivers signals to the main thread only.
        if threading.current_thread() is threading.main_thread():
            self._before = {asking: signal.signal(asking, self._note) for asking in _HANDLED}
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = signal.Signals(number)
        self._restore()

    def _restore(self) -> None:
        for asking, handler in self._before.items():
            signal.signal(asking, handler)
        self._before = {}
