"""Strings that cannot be written in UTF-8 are refused, with their place."""

from __future__ import annotations

from t2t_phrase.config import UserError


def check_unicode(text: str, name: str) -> None:
    """Refuse a text with half of a surrogate pair.

    Files cannot hold one, because their lines are decoded strictly, but strings of Python can.

    Args:
        text: of any length.
        name: where it is from, for messages.

    Raises:
        UserError: there is one.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        raise UserError(f"{name}: {half} alone is only half of a character") from None
