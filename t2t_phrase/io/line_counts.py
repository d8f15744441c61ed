"""Numbers of lines and the like: how messages say them, and that files have as many."""

from __future__ import annotations

from t2t_phrase.config import UserError


def counted(count: int, noun: str) -> str:
    """Return "1 line", "2 lines" and so on, for nouns whose plural is regular."""
    return f"{count} {inflected(noun, count)}"


def inflected(noun: str, count: int) -> str:
    """Return the singular of a noun for 1, else its plural, which must be regular."""
    return noun if count == 1 else f"{noun}s"


def check_one_to_one(first: str, lines: int, second: str, other_lines: int) -> None:
    """Check that two texts have equally many lines.

    Args:
        first: what the message calls one text, such as the name of its file.
        lines: how many it has.
        second: what the message calls the other one.
        other_lines: how many that has.

    Raises:
        UserError: the numbers differ.
    """
    if lines != other_lines:
        raise UserError(
            f"{first} has {counted(lines, 'line')} and {second} has {other_lines}; the lines must "
            "correspond one to one"
        )
