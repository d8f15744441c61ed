"""Messages for exhausted memory, whether in Python, NumPy, TensorFlow or XLA."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from t2t_phrase.config import UserError


class OutOfMemoryError(UserError):
    """Something did not fit in the memory of the machine or of its accelerator."""

    exit_code = 3


@contextlib.contextmanager
def explained(what: str | Callable[[], str], advice: str) -> Iterator[None]:
    """Turn an out-of-memory error into one with a plain message.

    Args:
        what: what was computed, such as "the evaluation at step 7", or a function that returns it.
        advice: what the user can do.

    Raises:
        OutOfMemoryError: the block ran out of memory.
    """
    try:
        yield
    except UserError:
        raise  # It has been explained within the block.
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        named = what if isinstance(what, str) else what()
        raise OutOfMemoryError(f"{named}: out of memory; {advice}") from error


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of Python, NumPy, TensorFlow, XLA or JAX says that memory ran out."""
    # The classes are compared by name, since a library may not be in use, and XLA has several.
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, MemoryError) or "ResourceExhaustedError" in names:
        return True
    text = str(error)
    return "RESOURCE_EXHAUSTED" in text or "out of memory" in text.lower()
