"""The most frequent of several labels or tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T", int, str)


def most_frequent(counts: Mapping[T, int], most: int) -> list[T]:
    """Return at most `most` keys, the most frequent ones first; ties in ascending order."""
    return sorted(counts, key=lambda key: (-counts[key], key))[:most]
