"""Strict reading of users' JSON: ambiguity and invalid text are refused, naming the place."""

from __future__ import annotations

import json
import re
from typing import Any

from t2t_phrase.config import UserError, clipped, shown
from t2t_phrase.io.unicode_text import check_unicode

# Half of a character outside of Unicode's first 65,536, written as an escape.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str, name: str) -> Any:
    """Return the value that a JSON text describes.

    Args:
        text: the JSON.
        name: origin of the text, for messages.

    Raises:
        UserError: the text is not valid JSON, is nested too deeply, gives a name in an object
            twice, or has an invalid number, such as NaN, or a string that is not valid Unicode.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unambiguous, parse_constant=_refuse)
        written = json.dumps(value, ensure_ascii=False) if _HALF.search(text) else ""
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    except RecursionError:
        raise UserError(f"{name} is not valid JSON: it is nested too deeply") from None
    except ValueError as error:
        raise UserError(f"{name} is not valid JSON: {clipped(str(error), 120)}") from None
    check_unicode(written, name)
    return value


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise UserError(f"an object gives {shown(name)} twice")
            seen.add(name)
    return found


def _refuse(constant: str) -> None:
    raise UserError(f"{constant} is not a JSON number")
