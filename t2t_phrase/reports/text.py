"""Users' text as pages can show it, without characters that browsers drop or refuse."""

from __future__ import annotations

from t2t_phrase.config import UserError

# The most characters of one text, such as a sentence; a page states what it leaves out.
LONGEST = 8000
_REPLACEMENT = "\ufffd"


def visible(text: str) -> str:
    """Return a text without control characters and lone surrogates.

    Control characters become their pictures, such as U+2400 for NUL; tabs and line ends stay. HTML
    has no way to write these characters, and a file in UTF-8 cannot hold lone surrogates.
    """
    return text.translate(_TABLE)


def clipped(text: str, longest: int = LONGEST) -> str:
    """Return a text, cut after `longest` characters with a note of how many are missing.

    Raises:
        UserError: `longest` is not positive.
    """
    if longest < 1:
        raise UserError(f"texts of {longest} characters: give a positive number")
    if len(text) <= longest:
        return text
    return f"{text[:longest]} [... {len(text) - longest:,} more characters]"


def _pictures() -> dict[int, str]:
    table = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
    table |= {0x7F: "\u2421"}
    table |= dict.fromkeys(range(0x80, 0xA0), _REPLACEMENT)
    table |= dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT)
    # The last two code points of each plane are not characters.
    table |= {code: _REPLACEMENT for plane in range(17) for code in _last_of(plane)}
    return table


def _last_of(plane: int) -> tuple[int, int]:
    return 0x10000 * plane + 0xFFFE, 0x10000 * plane + 0xFFFF


_TABLE = _pictures()
