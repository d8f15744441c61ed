"""Parameters of tests of which few are tried often."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_slow(names: Iterable[Any], *kept: Any) -> list[Any]:
    """Return `names` as parameters, all but `kept` marked as slow.

    Raises:
        ValueError: there are no such names as `kept`.
    """
    names = list(names)
    if unknown := set(kept) - set(names):
        raise ValueError(f"there are no {sorted(unknown)} in {names}")
    return [pytest.param(name, marks=() if name in kept else pytest.mark.slow) for name in names]
