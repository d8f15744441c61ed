"""Faults of sentence pairs: their kinds, how often each occurs, and where."""

from __future__ import annotations

import collections
import dataclasses
import heapq
from collections.abc import Iterable, Iterator

from t2t_phrase.data.sources.corpus import Pair

# Faults of each kind that are reported with file and line; others are only counted.
LISTED = 10


@dataclasses.dataclass
class Faults:
    """Counts of faulty lines by kind, and the first few of each kind.

    Attributes:
        counts: number of faults by kind.
        places: for each kind, (index in the corpus, "file:line") of its first faults.
    """

    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    places: dict[str, list[tuple[int, str]]] = dataclasses.field(default_factory=dict)

    def add(self, kind: str, index: int, place: str) -> None:
        """Record one fault; indices must not decrease."""
        self.counts[kind] += 1
        listed = self.places.setdefault(kind, [])
        if len(listed) < LISTED:
            listed.append((index, place))

    def by_kind(self) -> dict[str, int]:
        """Return the counts, sorted by the names of the kinds."""
        return {kind: count for kind, count in sorted(self.counts.items()) if count}

    def describe(self, consequence: str) -> list[str]:
        """Return one line for each kind of fault."""
        lines = []
        for kind, count in self.by_kind().items():
            listed = ", ".join(place for _, place in self.places[kind])
            rest = f" and {count - LISTED} more" if count > LISTED else ""
            lines.append(f"{count} x {kind} ({consequence}): {listed}{rest}")
        return lines


def joined(parts: Iterable[Faults]) -> Faults:
    """Combine the faults of the parts of a corpus into those of the whole."""
    whole = Faults()
    for part in parts:
        whole.counts.update(part.counts)
        for kind, listed in part.places.items():
            both = (*whole.places.get(kind, ()), *listed)
            whole.places[kind] = heapq.nsmallest(LISTED, both)
    return whole


def find_faults(pair: Pair, *, max_characters: int) -> Iterator[tuple[str, str]]:
    """Yield (kind, "file:line") for every fault of a pair."""
    for text, name in zip(pair.texts, pair.names, strict=True):
        place = f"{name}:{pair.line}"
        if text is None:
            yield "invalid UTF-8", place
        elif not text or text.isspace():
            yield "empty side", place
        elif len(text) > max_characters:
            yield f"side over {max_characters} characters", place
