"""Messages for batches of the decoder that do not fit in memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from t2t_phrase.io import out_of_memory

LISTED = 5


def explained(lines: Sequence[int], shape: tuple[int, int]) -> AbstractContextManager[None]:
    """Return a block in which an out-of-memory error names the batch and the options to change.

    Args:
        lines: numbers of the lines of the batch in their file, from 1.
        shape: of the batch, (rows, length).

    Raises:
        OutOfMemoryError: in the block, memory ran out.
    """
    named = ", ".join(map(str, sorted(lines)[:LISTED]))
    more = f" and {len(lines) - LISTED} more" if len(lines) > LISTED else ""
    rows, length = shape
    smaller = "batch_size" if rows > 1 else "max_input_size or extra_length"
    return out_of_memory.explained(
        f"a batch of {rows} x {length} tokens, line{'s' * (len(lines) > 1)} {named}{more}",
        f"give a smaller {smaller}, or a smaller beam_size",
    )
