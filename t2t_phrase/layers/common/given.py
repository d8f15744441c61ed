"""Optional arguments of layers."""

from __future__ import annotations

from typing import Any


def given(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that are not None.

    So a layer that lacks an argument can be called as long as the argument is None.
    """
    return {name: value for name, value in arguments.items() if value is not None}
