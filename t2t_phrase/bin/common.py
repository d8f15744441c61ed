"""Shared code of all commands: start and exit, see `endings`."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NoReturn

from absl import app, flags, logging

from t2t_phrase.bin import endings, streams
from t2t_phrase.bin.backend import backend_named, check_backend
from t2t_phrase.bin.flag_parsing import WrongUsage, own_flags, parse_flags
from t2t_phrase.io.signals import Signalled
from t2t_phrase.io.terminal import close_lines


def run(
    main: Callable[[Sequence[str]], None], *, tensorflow: bool | Callable[[], bool] = True
) -> NoReturn:
    """Run an absl `main` and exit; every failure but a bug prints one line on standard error.

    Args:
        main: called with the arguments that are not flags.
        tensorflow: whether the command uses TensorFlow, or a function that returns this once the
            flags are parsed.
    """

    def guarded(argv: Sequence[str]) -> None:
        # The Python part of TensorFlow logs through absl.
        logging.set_verbosity(logging.WARNING)
        if tensorflow() if callable(tensorflow) else tensorflow:
            _check_arguments_are_utf8()
            check_backend()
            load_tensorflow()
        try:
            main(argv)
        except app.UsageError as error:
            # absl would print all flags.
            raise WrongUsage(str(error)) from None

    streams.restart_in_utf8()
    streams.prepare()
    flags.DEFINE_bool("version", False, "Print the version and exit.")
    _describe(main)
    sys.exit(_exit_code(lambda: app.run(guarded, flags_parser=parse_flags)))


def _exit_code(action: Callable[[], None]) -> int:
    """Run an action, report how it ended, and return the exit code."""
    code: Any = endings.DONE
    try:
        with _signals_raised():
            try:
                action()
            except SystemExit as end:
                code = end.code
            close_lines()
            sys.stdout.flush()
    except BaseException as error:
        close_lines()
        ending = endings.ending_of(error)
        if ending.text:
            streams.write_if_possible(sys.stderr, f"{ending.text}\n")
        # A second interrupt, while the interpreter waits for its threads, prints no traceback.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        streams.discard_if_stuck(sys.stdout)
        code = ending.code
    return code if isinstance(code, int) else endings.BUG if code else endings.DONE


@contextlib.contextmanager
def _signals_raised() -> Iterator[None]:
    """Raise `Signalled` where SIGTERM or SIGHUP would end the process without cleaning up."""
    owner = os.getpid()

    def on_signal(number: int, frame: Any) -> None:
        del frame
        if os.getpid() != owner:
            # A worker process has nothing to clean up.
            os._exit(endings.SIGNALLED + number)
        raise Signalled(number)

    handled = [signal.SIGTERM, signal.SIGHUP]
    # Signals that the caller ignores, as nohup does, stay ignored.
    handled = [number for number in handled if signal.getsignal(number) == signal.SIG_DFL]
    for number in handled:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _check_arguments_are_utf8() -> None:
    """Refuse arguments that TensorFlow could not read as file names.

    Raises:
        WrongUsage: an argument is not UTF-8.
    """
    for argument in sys.argv[1:]:
        try:
            argument.encode()
        except UnicodeEncodeError:
            shown = argument.encode(errors="backslashreplace").decode()
            raise WrongUsage(f"{shown}: not UTF-8; rename the file") from None


def _describe(main: Callable[[Sequence[str]], None]) -> None:
    """Make `--help` describe the command, not the wrapper script that pip installed."""
    sys.modules["__main__"].__doc__ = sys.modules[main.__module__].__doc__
    for flag in list(own_flags()):
        flags.FLAGS.register_key_flag_for_module(sys.argv[0], flag)


def prefer_onednn() -> None:
    """Let oneDNN multiply matrices on all x86 CPUs, unless TF_ENABLE_ONEDNN_OPTS is set.

    TensorFlow, which must not have been imported yet, does so by default only with AVX512.
    """
    if platform.machine() in ("x86_64", "AMD64"):
        os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


def load_tensorflow() -> None:
    """Import TensorFlow without its start-up messages, which would bury the command's output.

    If Keras uses JAX, TensorFlow sees no GPU and need not be installed. The messages are written
    by C++ code before any setting is read, so the file descriptor itself is redirected. If the
    import fails, the messages are printed after all.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    prefer_onednn()
    on_jax = backend_named()[0] == "jax"
    if on_jax and importlib.util.find_spec("tensorflow") is None:
        return
    sys.stderr.flush()
    stderr = os.dup(2)
    with _temporary_file() as notices:
        os.dup2(notices.fileno(), 2)
        failed = False
        try:
            import tensorflow as tf

            tf.config.list_physical_devices()
            if on_jax:
                # Otherwise TensorFlow would reserve the memory that JAX needs.
                tf.config.set_visible_devices([], "GPU")
        except Exception:
            failed = True
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            if failed:
                notices.seek(0)
                sys.stderr.write(notices.read().decode(errors="replace"))


def _temporary_file() -> IO[bytes]:
    """Return a temporary file, or one that discards its content if the disk is full."""
    try:
        return tempfile.TemporaryFile()
    except OSError:
        return open(os.devnull, "r+b")
