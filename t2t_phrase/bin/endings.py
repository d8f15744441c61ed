"""Exit codes of commands, and one-line error messages."""

from __future__ import annotations

import signal
import traceback
from typing import NamedTuple

from absl import app

import t2t_phrase
from t2t_phrase import registry
from t2t_phrase.bin import machine_errors, streams
from t2t_phrase.bin.flag_parsing import WrongUsage
from t2t_phrase.config import UserError
from t2t_phrase.io.signals import Signalled

DONE, BUG, USAGE, MACHINE = 0, 1, 2, 3
# A command ended by signal n exits with 128 + n, as reported by shells.
SIGNALLED = 128

_KEPT = "finished files are kept, and the same command continues from there or starts again"


class Ending(NamedTuple):
    """The exit code of a command and its message.

    Attributes:
        code: the exit code.
        text: the text for standard error; empty for a quiet ending.
    """

    code: int
    text: str


def ending_of(error: BaseException) -> Ending:
    """Return the ending that an exception stands for; only bugs show their traceback."""
    if isinstance(error, KeyboardInterrupt):
        return Ending(SIGNALLED + signal.SIGINT, f"interrupted; {_KEPT}")
    if isinstance(error, Signalled):
        name = signal.Signals(error.number).name
        return Ending(SIGNALLED + error.number, f"ended by {name}; {_KEPT}")
    if _is_broken_pipe(error) and streams.reader_is_gone():
        return Ending(SIGNALLED + signal.SIGPIPE, "")
    if isinstance(error, app.UsageError):
        error = WrongUsage(str(error))
    if isinstance(error, UserError):
        first, *others = _lines(error)
        return Ending(error.exit_code, "\n".join(["error: " + first, *others]))
    found = machine_errors.explain(error)
    if found is not None:
        sentence = " ".join(line.strip() for line in found.sentence.splitlines())
        return Ending(MACHINE if found.machine else USAGE, f"error: {sentence}")
    return Ending(BUG, f"{_traceback(error)}\n{_blame(error)}")


def _blame(error: BaseException) -> str:
    """Return a sentence with the code in which the cause of a bug is to be looked for."""
    bug, report = f"a bug in t2t_phrase {t2t_phrase.__version__}", "report it with the lines above"
    folders = registry.user_folders()
    if not folders:
        return f"This is {bug}, not your mistake; please {report} and the command."
    places = [place for folder in folders if (place := registry.place_in(folder, error))]
    where = f"The cause may be in your --t2t_usr_dir={', '.join(folders)}"
    if places:
        where = f"The error came up in {places[-1]}, in your --t2t_usr_dir"
    return (
        f"{where}. If that code is right, it is {bug}; then please {report}, the command and the "
        "code."
    )


def _lines(error: UserError) -> list[str]:
    """Return the lines of a message with their indentation; lists have one item per line."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    if machine_errors.is_tensorflow_error(error.__cause__):
        lines = [machine_errors.without_nodes(line) for line in lines]
    return ["  " * line.startswith("  ") + line.strip() for line in lines] or [""]


def _is_broken_pipe(error: BaseException) -> bool:
    return isinstance(error, BrokenPipeError) or isinstance(error.__cause__, BrokenPipeError)


def _traceback(error: BaseException) -> str:
    if not machine_errors.is_tensorflow_error(error):
        return "".join(traceback.format_exception(error)).rstrip()
    # TensorFlow's own message is a second traceback, of nodes.
    frames = "".join(traceback.format_tb(error.__traceback__))
    message = " ".join(machine_errors.without_nodes(str(error)).split())
    return f"Traceback (most recent call last):\n{frames}{type(error).__name__}: {message}"
