"""McNemar's exact test of whether two systems are right equally often."""

from __future__ import annotations

import math


def mcnemar(gained: int, lost: int) -> float:
    """Return the two-sided p-value of McNemar's exact test.

    It is the probability that, if both systems were equally good, the items that only one of them
    has right would be divided between them at least as unequally.

    Args:
        gained: number of items that only one system has right.
        lost: number of items that only the other has right.
    """
    cases, fewer = gained + lost, min(gained, lost)
    # Logarithms: with many items, the binomial coefficients have thousands of digits.
    logs = (_log_binomial(cases, k) - cases * math.log(2) for k in range(fewer + 1))
    return min(1.0, 2 * math.fsum(map(math.exp, logs)))


def _log_binomial(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
