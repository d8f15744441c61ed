"""Hparams sets with changes of their own: SET, SET:FIELD=VALUE or SET:FIELD=VALUE+FIELD=VALUE."""

from __future__ import annotations

import re

from t2t_phrase.config import parse_assignments


def split(name: str, shared: str = "") -> tuple[str, str]:
    """Return the set, and its changes in the syntax of `--hparams`.

    Args:
        name: a set with or without changes of its own.
        shared: the changes of all sets; those of its own win.

    Raises:
        HParamsError: a change has no `=`, or a field occurs twice.
    """
    hparams_set, _, changes = name.partition(":")
    # Other plus signs belong to values, as in 1e+3.
    own = parse_assignments(re.sub(r"\+(?=\w+=)", ",", changes))
    if not own:
        return hparams_set, shared
    values = {**parse_assignments(shared), **own}
    return hparams_set, ",".join(f"{field}={value}" for field, value in values.items())


def file_name(name: str) -> str:
    """Return the beginning of the names of a set's files."""
    # Plus signs within values stay, so that 1e+1 and 1e-1 differ.
    return re.sub(r"(?:[^\w.=+]|\+(?=\w+=))+", "-", name).strip("-")
