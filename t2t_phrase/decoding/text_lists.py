"""Arguments that are lists of texts."""

from __future__ import annotations

from t2t_phrase.config import UserError, shown


def check_list(name: str, texts: object) -> None:
    """Refuse one text in place of a list of texts.

    Args:
        name: of the argument, for the message.
        texts: its value.

    Raises:
        UserError: the value is a string.
    """
    # A string is a sequence of strings, too: its characters.
    if isinstance(texts, str):
        text = shown(texts)
        raise UserError(f"{name}: expected a list of strings, got {text}; write [{text}]")
