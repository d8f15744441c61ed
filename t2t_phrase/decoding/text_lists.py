"""Arguments that are texts, or lists of them."""

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
        check_text(f"{name} {number}", text)
    return found


def check_text(name: str, text: object) -> None:
    """Raise UserError if the value of the argument `name` is not a string."""
    if not isinstance(text, str):
        raise UserError(f"{name}: expected a string, got {shown(text)}")
