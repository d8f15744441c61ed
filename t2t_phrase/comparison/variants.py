"""Hparams sets with changes of their own: SET, SET:FIELD=VALUE or SET:FIELD=VALUE+FIELD=VALUE."""

from __future__ import annotations

import re

from t2t_phrase.config import parse_assignments


def split(name: str) -> tuple[str, str]:
    """Return the set, and its changes in the syntax of `--hparams`."""
    hparams_set, _, changes = name.partition(":")
    return hparams_set, changes.replace("+", ",")


def overrides(name: str, shared: str) -> str:
    """Return the changes that all sets share and those of one set, which win, for `--hparams`.

    Args:
        name: a set with or without changes.
        shared: the changes of all sets.

    Raises:
        HParamsError: a change has no `=`, or a field occurs twice.
    """
    own = parse_assignments(split(name)[1])
    if not own:
        return shared
    values = {**parse_assignments(shared), **own}
    return ",".join(f"{field}={value}" for field, value in values.items())


def file_name(name: str) -> str:
    """Return the beginning of the names of a set's files."""
    return re.sub(r"[^\w.=]+", "-", name).strip("-")
