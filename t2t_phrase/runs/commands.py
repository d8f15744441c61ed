"""The commands that a run was trained with, kept in its folder."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import time
from collections.abc import Callable, Sequence

import t2t_phrase
from t2t_phrase.config import UserError
from t2t_phrase.io import files

FILE = "commands.json"


@dataclasses.dataclass(frozen=True)
class Command:
    """One start of a training run.

    Attributes:
        started: local time, "2026-11-24 20:18:00".
        version: version of this library.
        arguments: arguments of t2t-phrase-trainer.
    """

    started: str
    version: str
    arguments: tuple[str, ...]


def add_command(
    folder: str | os.PathLike[str], arguments: Sequence[str], *, log: Callable[[str], None]
) -> None:
    """Add a command to `commands.json`; a failure is only logged.

    Args:
        folder: folder of the run.
        arguments: arguments of t2t-phrase-trainer.
        log: called with warnings.
    """
    try:
        known = read_commands(folder)
    except UserError as error:
        log(f"WARNING: {error}; it is rewritten with only this command")
        known = []
    started = time.strftime("%Y-%m-%d %H:%M:%S")
    known.append(Command(started, t2t_phrase.__version__, tuple(arguments)))
    try:
        _write(known, folder)
    except files.WriteError as error:
        log(f"WARNING: the command could not be recorded: {error}; training continues")


def read_commands(folder: str | os.PathLike[str]) -> list[Command]:
    """Return the commands of a run, in order; [] if none are known.

    Raises:
        UserError: the file cannot be read, or is damaged.
    """
    path = pathlib.Path(folder) / FILE
    try:
        stored = json.loads(path.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError):
        stored = None
    if not isinstance(stored, list) or not all(map(_is_command, stored)):
        raise UserError(f"{path} is damaged: it is not a JSON list of commands")
    return [
        Command(entry["started"], entry["version"], tuple(entry["arguments"])) for entry in stored
    ]


def copy_commands(run: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
    """Copy the commands of a run, if it has any that can be read, to a folder for its checkpoints.

    Raises:
        WriteError: the disk is full, or the folder is not writable.
    """
    try:
        known = read_commands(run)
    except UserError:
        return
    if known:
        _write(known, folder)


def last_value(commands: Sequence[Command], flag: str, *, switch: bool = False) -> str:
    """Return the value that the last command with this flag gave it; "" if none did.

    Args:
        commands: commands in order.
        flag: name of the flag, without dashes.
        switch: whether the flag may stand without a value: `--flag` is "true", `--noflag` "false".
    """
    for command in reversed(commands):
        for place, argument in reversed(list(enumerate(command.arguments))):
            name, equals, value = argument.lstrip("-").partition("=")
            if not argument.startswith("-"):
                continue
            if switch and not equals and name in (flag, f"no{flag}"):
                return str(name == flag).lower()
            if name == flag:
                return value if equals else "".join(command.arguments[place + 1 : place + 2])
    return ""


def _write(commands: Sequence[Command], folder: str | os.PathLike[str]) -> None:
    content = json.dumps([dataclasses.asdict(command) for command in commands], indent=1)
    files.write(pathlib.Path(folder) / FILE, content + "\n")


def _is_command(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(name), str) for name in ("started", "version"))
        and isinstance(entry.get("arguments"), list)
        and all(isinstance(argument, str) for argument in entry["arguments"])
    )
