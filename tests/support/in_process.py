"""Commands as a shell runs them, from the flags to the exit code, inside the test's process."""

from __future__ import annotations

import contextlib
import importlib
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from absl import app, flags


@contextlib.contextmanager
def own_flags() -> Iterator[None]:
    """Forget the flags that are defined within, and the values of all others."""
    app.define_help_flags()
    known = set(flags.FLAGS)
    try:
        yield
    finally:
        for name in set(flags.FLAGS) - known:
            delattr(flags.FLAGS, name)
        flags.FLAGS.unparse_flags()
        for name in flags.FLAGS:
            flags.FLAGS[name].unparse()
        flags.FLAGS.mark_as_parsed()


def exit_code(command: str, arguments: Sequence[str], monkeypatch: Any) -> int:
    """Run a command of setup.py and return its exit code."""
    module = importlib.import_module(
        f"t2t_phrase.bin.{'import_t2t' if command == 'import' else command}"
    )
    monkeypatch.setattr(sys, "argv", [f"t2t-phrase-{command}", *arguments])
    monkeypatch.setattr(sys.modules["__main__"], "__doc__", None)
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        with own_flags():
            module.run()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        signal.signal(signal.SIGINT, interrupt)
    raise AssertionError("a command always exits")
