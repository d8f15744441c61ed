"""Reads the word tables, and draws items by weight."""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Generic, TypeVar

T = TypeVar("T")


def read_table(name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of `tables/{name}.tsv`; a lone `-` is read as the empty string."""
    text = resources.files(__package__).joinpath("tables", f"{name}.tsv").read_text("utf-8")
    header, *lines = text.splitlines()
    names = header.split("\t")
    for line in lines:
        values = line.split("\t")
        yield {key: "" if value == "-" else value for key, value in zip(names, values, strict=True)}


class Pool(Generic[T]):
    """Items whose frequency decreases slowly with their position."""

    def __init__(self, items: Sequence[T]) -> None:
        self.items = items
        weights = ((rank + 10.0) ** -0.7 for rank in range(len(items)))
        self._cumulative = list(itertools.accumulate(weights))

    def draw(self, rng: random.Random) -> T:
        """Draw one item."""
        cumulative = self._cumulative
        return self.items[bisect.bisect(cumulative, rng.random() * cumulative[-1])]

    def __len__(self) -> int:
        return len(self.items)


class Weighted(Generic[T]):
    """Items with explicit weights."""

    def __init__(self, items: Sequence[T], weights: Sequence[float]) -> None:
        self.items = items
        self._cumulative = list(itertools.accumulate(weights))

    def draw(self, rng: random.Random) -> T:
        """Draw one item."""
        cumulative = self._cumulative
        return self.items[bisect.bisect(cumulative, rng.random() * cumulative[-1])]
