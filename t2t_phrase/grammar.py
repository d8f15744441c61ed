"""The names of the optional package `t2t_phrase_grammar`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from t2t_phrase.config import UserError

if TYPE_CHECKING:
    from t2t_phrase_grammar import *  # noqa: F403


def __getattr__(name: str) -> Any:
    try:
        package = importlib.import_module("t2t_phrase_grammar")
    except ModuleNotFoundError as error:
        raise UserError(
            "the generated corpus needs the package t2t_phrase_grammar, which was left out of this "
            "installation: install it from a whole checkout"
        ) from error
    return getattr(package, name)
