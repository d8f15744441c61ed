"""The steps of a comparison: commands, which run unless their output is up to date."""

from __future__ import annotations

import pathlib
import shlex
import sys
from collections.abc import Sequence

from t2t_phrase.config import UserError
from t2t_phrase.io.child_process import call


def command_line(module: str, flags: Sequence[str]) -> str:
    """Return a command as it is typed in a shell.

    Args:
        module: name of the command, without "t2t-phrase-".
        flags: its flags.
    """
    return f"t2t-phrase-{module} {shlex.join(flags)}"


class StepFailed(UserError):
    """A command failed.

    Args:
        message: names the command.
        exit_code: exit status of the command.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def make(
    module: str,
    flags: list[str],
    *,
    made: pathlib.Path,
    sources: Sequence[pathlib.Path],
    log: pathlib.Path,
) -> None:
    """Run a command unless `made` exists, is newer than `sources` and has the same flags.

    Args:
        module: name of the command, without "t2t-phrase-".
        flags: its flags.
        made: the file or folder of checkpoints that it makes; its flags are kept in MADE.flags.
        sources: files that the command reads.
        log: see `run`.

    Raises:
        StepFailed: see `run`.
        SystemExit: see `run`.
    """
    stamp = made.with_name(f"{made.name}.flags")
    if made.exists() and stamp.exists() and stamp.read_text() == "\n".join(flags):
        marker = made / "checkpoint" if made.is_dir() else made
        if marker.exists() and marker.stat().st_mtime >= max(
            source.stat().st_mtime for source in sources
        ):
            return
    # If this process is killed, the flags of the old output must not be those of the new one.
    stamp.unlink(missing_ok=True)
    run(module, flags, log)
    stamp.write_text("\n".join(flags))


def run(module: str, flags: list[str], log: pathlib.Path) -> None:
    """Run a command and append its output to `log`.

    Args:
        module: name of the command, without "t2t-phrase-".
        flags: its flags.
        log: a file.

    Raises:
        StepFailed: the command failed; the message has the last lines of its output.
        SystemExit: a signal ended the command, so no other is started; the code is 128 plus
            its number.
    """
    print(f"$ {command_line(module, flags)}", flush=True)
    command = [sys.executable, "-m", f"t2t_phrase.bin.{module}", *flags]
    with log.open("a") as file:
        status = call(command, file)
    if status >= 128:
        print(
            f"t2t-phrase-{module} was ended by signal {status - 128}; run the same command "
            "again to continue",
            file=sys.stderr,
        )
        sys.exit(status)
    if status:
        tail = "\n".join(f"    {line}" for line in log.read_text().splitlines()[-5:])
        raise StepFailed(f"t2t-phrase-{module} failed, see {log}:\n{tail}", status)
