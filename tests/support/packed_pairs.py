"""The same sentence pairs one in each row, and several in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from t2t_phrase.features import IDS, PAIRS, Side

# Source and target tokens of each pair, EOS included; rows of 24 places hold five, one and three
# of them, one of these up to the last place of a side.
LENGTHS = [(5, 3), (7, 9), (1, 2), (3, 1), (8, 7), (24, 13), (6, 5), (2, 4), (9, 6)]
ROWS = [[0, 1, 2, 3, 4], [5], [6, 7, 8]]
WIDTH = 24


def random_sides(
    lengths: Sequence[tuple[int, int]] = LENGTHS, vocab_size: int = 19, seed: int = 0
) -> list[dict[str, np.ndarray]]:
    """Return pairs of random ids, EOS last, by the names of both sides."""
    random = np.random.default_rng(seed)
    return [
        {
            ids: np.append(random.integers(2, vocab_size, length - 1), 1).astype("int32")
            for ids, length in zip(IDS.values(), pair, strict=True)
        }
        for pair in lengths
    ]


def alone(pairs: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return a batch with each pair in a row of its own, padded with 0."""
    width = max(len(values) for pair in pairs for values in pair.values())
    return {
        name: np.stack([np.pad(pair[name], (0, width - len(pair[name]))) for pair in pairs])
        for name in pairs[0]
    }


def packed(
    pairs: Sequence[Mapping[str, np.ndarray]],
    rows: Sequence[Sequence[int]] = ROWS,
    width: int = WIDTH,
) -> dict[str, np.ndarray]:
    """Return a batch whose rows hold these pairs, with the numbers of the pairs."""
    found = {
        name: np.stack([padded([pairs[i][name] for i in row], width) for row in rows])
        for name in pairs[0]
    }
    for side, ids in IDS.items():
        numbers = [
            [np.full(len(pairs[i][ids]), place, "int32") for place, i in enumerate(row, start=1)]
            for row in rows
        ]
        found[PAIRS[side]] = np.stack([padded(row, width) for row in numbers])
    return found


def padded(parts: Sequence[np.ndarray], width: int) -> np.ndarray:
    """Return one row of these parts."""
    row = np.concatenate(parts)
    return np.pad(row, (0, width - len(row)))


def places_of(
    pairs: Sequence[Mapping[str, np.ndarray]],
    number: int,
    side: Side,
    rows: Sequence[Sequence[int]] = ROWS,
) -> tuple[int, slice]:
    """Return the row of a pair in `packed`, and where one of its sides lies in it."""
    for place, row in enumerate(rows):
        if number in row:
            before = row[: row.index(number)]
            start = sum(len(pairs[i][IDS[side]]) for i in before)
            return place, slice(start, start + len(pairs[number][IDS[side]]))
    raise ValueError(f"no row holds pair {number}")
