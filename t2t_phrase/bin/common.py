"""What all commands share: user errors become one line on stderr, bugs keep their traceback."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import NoReturn

from absl import app, flags, logging

from t2t_phrase.config import UserError


def run(main: Callable[[Sequence[str]], None], *, tensorflow: bool = True) -> NoReturn:
    """Run an absl `main`; for a `UserError`, print `error: ...` and exit with its code.

    Args:
        main: called with the arguments that are not flags.
        tensorflow: whether the command uses TensorFlow.
    """

    def guarded(argv: Sequence[str]) -> None:
        if len(argv) > 1:
            raise app.UsageError(f"unexpected argument {argv[1]!r}; flags are written --name=value")
        # The Python part of TensorFlow logs through absl.
        logging.set_verbosity(logging.WARNING)
        if tensorflow:
            _load_tensorflow()
        try:
            main(argv)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(error.exit_code)

    _describe(main)
    app.run(guarded)
    raise SystemExit(0)


def _describe(main: Callable[[Sequence[str]], None]) -> None:
    """Make `--help` describe the command, not the wrapper script that pip installed."""
    sys.modules["__main__"].__doc__ = sys.modules[main.__module__].__doc__
    for module, defined in flags.FLAGS.flags_by_module_dict().items():
        if module.startswith("t2t_phrase."):
            for flag in defined:
                flags.FLAGS.register_key_flag_for_module(sys.argv[0], flag)


def _load_tensorflow() -> None:
    """Import TensorFlow without its start-up messages, which would bury the command's output.

    They are written by C++ code before any setting is read, so the file descriptor itself is
    redirected. If the import fails, they are printed after all.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as notices:
        os.dup2(notices.fileno(), 2)
        try:
            import tensorflow as tf

            tf.config.list_physical_devices()
            failed = False
        except BaseException:
            failed = True
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            if failed:
                notices.seek(0)
                sys.stderr.write(notices.read().decode(errors="replace"))
