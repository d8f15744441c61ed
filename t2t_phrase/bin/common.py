"""What every command shares: user mistakes are one line on stderr, bugs keep their traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from absl import app

from t2t_phrase.config import UserError


def run(main: Callable[[Sequence[str]], None]) -> NoReturn:
    """Run an absl `main`; a `UserError` prints `error: ...` and exits with status 2."""
    # TensorFlow's start-up notices would bury what a command has to say.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

    def guarded(argv: Sequence[str]) -> None:
        if len(argv) > 1:
            raise app.UsageError(f"unexpected argument {argv[1]!r}; flags are written --name=value")
        try:
            main(argv)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(2)

    app.run(guarded)
    raise SystemExit(0)
