"""The name of a served model, which is part of addresses."""

from __future__ import annotations

import pathlib
import re

from t2t_phrase.config import UserError, shown
from t2t_phrase.io.files import expanded
from t2t_phrase.runs.directory import AVERAGED, BEST

# Folders whose names say nothing about the model.
_WITHIN = (BEST, AVERAGED, "export")


def model_name(given: str | None, folder: str) -> str:
    """Return the name of a model.

    Args:
        given: `--model_name`; None: the name of the folder, or of the run that it belongs to.
        folder: the folder of a run or of exported versions, or a checkpoint.

    Raises:
        UserError: the name cannot be part of an address.
    """
    place = expanded(folder).resolve()
    # A checkpoint is several files, whose names begin with its own.
    if given is None and pathlib.Path(f"{place}.index").exists():
        place = place.parent
    while given is None and place.name in _WITHIN:
        place = place.parent
    name = place.name if given is None else given
    if not re.fullmatch(r"[\w.~-]+", name, re.ASCII):
        whose = "" if given is not None else f" (from {shown(folder)})"
        raise UserError(
            f"--model_name={shown(name)}{whose}: the name is part of URLs; give one of letters, "
            "digits and . _ ~ -"
        )
    return name
