"""Recognises, under every backend, that a batch did not fit into memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from t2t_phrase.config import UserError

LISTED = 5


class OutOfMemoryError(UserError):
    """A batch did not fit into memory; the message names its lines and the options to change."""

    exit_code = 3


@contextlib.contextmanager
def explained(lines: Sequence[int], shape: tuple[int, int]) -> Iterator[None]:
    """Turn out-of-memory errors inside the block into a message for the user.

    Args:
        lines: numbers of the lines of the batch in their file, from 1.
        shape: of the batch, (rows, length).

    Raises:
        OutOfMemoryError: memory ran out.
    """
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        named = ", ".join(map(str, sorted(lines)[:LISTED]))
        more = f" and {len(lines) - LISTED} more" if len(lines) > LISTED else ""
        rows, length = shape
        smaller = "batch_size" if rows > 1 else "max_input_size or extra_length"
        raise OutOfMemoryError(
            f"out of memory in a batch of {rows} x {length} tokens, line{'s' * (len(lines) > 1)} "
            f"{named}{more}: give a smaller {smaller}, or a smaller beam_size"
        ) from error


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an error of Python, TensorFlow, XLA or JAX says that memory ran out."""
    if isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError":
        return True
    text = str(error)
    return "RESOURCE_EXHAUSTED" in text or "out of memory" in text.lower()
