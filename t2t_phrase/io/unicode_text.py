"""A check that refuses strings that cannot be written in UTF-8, naming their place."""

from __future__ import annotations

from t2t_phrase.config import UserError


def check_unicode(text: str, name: str) -> None:
    """Refuse a text with half of a surrogate pair.

    Lines of files cannot hold one, because they are decoded strictly, but Python strings can.

    Args:
        text: text of any length.
        name: origin of the text, for messages.

    Raises:
        UserError: the text has half of a surrogate pair.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        raise UserError(f"{name}: {half} alone is only half of a character") from None
