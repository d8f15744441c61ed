"""The signals that ask a command to stop."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator

# A closing terminal sends SIGHUP, which some platforms lack.
ASKING = (
    signal.SIGTERM,
    signal.SIGINT,
    *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []),
)


class Signalled(BaseException):
    """A signal asked the command to end; raised in the main thread.

    Args:
        number: the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def heeded_signals() -> list[signal.Signals]:
    """Return the signals that ask a command to stop and that the caller does not ignore."""
    # As nohup does, and shells do for what they start in the background.
    return [asking for asking in ASKING if signal.getsignal(asking) != signal.SIG_IGN]


@contextlib.contextmanager
def handling(handler: Callable[[int, object], None]) -> Iterator[None]:
    """Let a function handle the heeded signals; for the main thread."""
    before = {number: signal.signal(number, handler) for number in heeded_signals()}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)
