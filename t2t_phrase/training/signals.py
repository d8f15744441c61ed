"""SIGTERM and Ctrl-C ask the training to stop at the end of its step."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_ASKING = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """A context in which the signals are noted in `signal`; a second one acts as without it."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> StopRequest:
        # Python delivers signals to the main thread only.
        if threading.current_thread() is threading.main_thread():
            self._before = {asking: signal.signal(asking, self._note) for asking in _ASKING}
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
