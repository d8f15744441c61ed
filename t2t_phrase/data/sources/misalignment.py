"""Finds the line from which two parallel files are misaligned."""

from __future__ import annotations

import pathlib

import numpy as np

from t2t_phrase.io.lines import read_lines


def first_shifted_line(first: pathlib.Path, second: pathlib.Path) -> int:
    """Return the line, from 1, from which `second` seems to be shifted relative to `first`.

    Translations have similar lengths. Before the break, line i fits line i; after it, line i fits
    line i + d, d being the difference of the files' line counts. The answer is the break that
    minimises the sum of the log length ratios.
    """
    a, b = _lengths(first), _lengths(second)
    shorter, longer = sorted((a, b), key=len)
    count, shift = len(shorter), len(longer) - len(shorter)
    ratio = longer.mean() - shorter.mean() if count else 0.0
    straight = np.abs(longer[:count] - shorter - ratio)
    shifted = np.abs(longer[shift : shift + count] - shorter - ratio)
    # cost[t]: the first t lines fit straight, the rest shifted.
    before = np.concatenate([[0.0], np.cumsum(straight)])
    after = np.concatenate([np.cumsum(shifted[::-1])[::-1], [0.0]])
    return int(np.argmin(before + after)) + 1


def _lengths(path: pathlib.Path) -> np.ndarray:
    """Return log(1 + characters) of each line: (lines,) float32."""
    lengths = (len(line) if line is not None else 0 for line in read_lines(path))
    return np.log1p(np.fromiter(lengths, dtype=np.float32))
