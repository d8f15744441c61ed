"""Estimates of how long the next batches will take, from the times of earlier ones."""

from __future__ import annotations

# The weight of a batch once the next one is noted.
DECAY = 0.98
# The number of batches before the first estimate, since the first ones are slow.
FEWEST = 10
# The overhead of a step, in multiples of the time of a row: the bounds, and the initial value.
LEAST, MOST, ASSUMED = 0.5, 64.0, 8.0


class BatchTimes:
    """Estimates the time of a step of a search by least squares.

        y = a + b x

    where x is the number of rows of a batch and y its seconds divided by the length of its longest
    row. Recent batches count most.
    """

    def __init__(self) -> None:
        self._count = 0
        self._weight = self._x = self._y = self._xx = self._xy = 0.0

    def note(self, rows: int, longest: int, seconds: float) -> None:
        """Note a batch.

        Args:
            rows: the number of rows.
            longest: the length of the longest row, in bytes.
            seconds: the time that the batch took.
        """
        self._count += 1
        x, y = float(rows), seconds / max(1, longest)
        self._weight = DECAY * self._weight + 1
        self._x = DECAY * self._x + x
        self._y = DECAY * self._y + y
        self._xx = DECAY * self._xx + x * x
        self._xy = DECAY * self._xy + x * y

    @property
    def overhead(self) -> float:
        """a / b: the time of a step without rows, in multiples of the time of a row."""
        if self._count < FEWEST:
            return ASSUMED
        variance = self._xx * self._weight - self._x**2
        covariance = self._xy * self._weight - self._x * self._y
        if variance <= 1e-9 * self._xx * self._weight:
            return ASSUMED
        if covariance <= 0:
            return MOST
        slope = covariance / variance
        start = (self._y - slope * self._x) / self._weight
        return min(max(start / slope, LEAST), MOST)
