"""Arguments that are lists of texts."""

from __future__ import annotations

from collections.abc import Iterable

from t2t_phrase.config import UserError, shown


def check_list(name: str, texts: object) -> list[str]:
    """Return a list of texts, and refuse anything else.

    Args:
        name: of the argument, for the message.
        texts: its value.

    Raises:
        UserError: the value is a string or not iterable, or an element is not a string.
    """
    # A string is a sequence of strings, too: its characters.
    if isinstance(texts, str):
        text = shown(texts)
        raise UserError(f"{name}: expected a list of strings, got {text}; write [{text}]")
    if not isinstance(texts, Iterable):
        raise UserError(f"{name}: expected a list of strings, got {shown(texts)}")
    found = list(texts)
    for number, text in enumerate(found, start=1):
        if not isinstance(text, str):
            raise UserError(f"{name} {number}: expected a string, got {shown(text)}")
    return found
