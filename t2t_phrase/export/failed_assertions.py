"""The messages of assertions in a graph, which say what is wrong with an input."""

from __future__ import annotations

import re


def failed_assertion(error: Exception) -> str:
    """Return the message of the assertion by which a graph has failed; "": by none."""
    found = re.search(r"assertion failed: \[([^]]*)\]", str(error))
    return found[1] if found else ""
