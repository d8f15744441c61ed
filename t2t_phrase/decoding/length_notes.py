"""Notes for the user about inputs that are too long."""

from __future__ import annotations

from t2t_phrase.decoding.sides import EncodedSide

LISTED = 10


def cut_notes(lines: EncodedSide, *, max_input_size: int, first: int = 0) -> list[str]:
    """Return a note about each input that was cut; see `length_notes`."""
    return [
        f"line {first + i + 1}: {lines.lengths[i]} tokens, cut to {max_input_size} (max_input_size)"
        for i in lines.cut
    ]


def length_notes(
    lines: EncodedSide, *, max_input_size: int, max_length: int, first: int = 0
) -> list[str]:
    """Return notes about long inputs; lines are counted from 1.

    Args:
        lines: the encoded inputs.
        max_input_size: length to which inputs were cut, if any were.
        max_length: length of the longest training example, in tokens.
        first: number of the first input in its file, from 0.
    """
    notes = cut_notes(lines, max_input_size=max_input_size, first=first)
    long = [i for i, ids in enumerate(lines.ids) if len(ids) > max_length]
    if long:
        listed = ", ".join(str(first + i + 1) for i in long[:LISTED])
        rest = f" and {len(long) - LISTED} more" if len(long) > LISTED else ""
        notes.append(
            f"{len(long)} of {len(lines.ids)} inputs are longer than the {max_length} tokens "
            "(max_length) of the longest training example, "
            f"up to {max(len(lines.ids[i]) for i in long)}, and may "
            f"be translated badly: line{'s' if len(long) > 1 else ''} {listed}{rest}"
        )
    return notes
