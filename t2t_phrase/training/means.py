"""The means that a model reports: added up, computed and written out, whatever their names are."""

from __future__ import annotations

import math
from collections.abc import Mapping

from t2t_phrase.models.base import Mean


def add(sums: Mapping[str, Mean], more: Mapping[str, Mean]) -> dict[str, Mean]:
    """Return the sums of two sets of means, as numbers; names in only one of them are kept."""
    added = dict(sums)
    for name, mean in more.items():
        sum_so_far = added.get(name, Mean(0.0, 0.0))
        added[name] = Mean(
            sum_so_far.total + float(mean.total), sum_so_far.count + float(mean.count)
        )
    return added


def values(sums: Mapping[str, Mean]) -> dict[str, float]:
    """Return each mean, 0 if its count is 0, and "nll" also as tensor2tensor names it, negated."""
    found = {}
    for name, mean in sums.items():
        # A count may be below 1: it is a sum of weights where a model weights its tokens.
        found[name] = float(mean.total) / float(mean.count) if mean.count else 0.0
        if name == "nll":
            found["neg_log_perplexity"] = -found[name]
    return found


def describe(named: Mapping[str, float]) -> str:
    """Return "loss 1.2345  perplexity 3.142  accuracy 45.00%" and so on, for `values`."""
    parts = []
    for name, value in named.items():
        if name == "nll":
            # math.exp raises beyond 709; "inf" is printed there, and "nan" for nan.
            parts.append(f"perplexity {math.exp(value) if value < 700 else value * math.inf:.3f}")
        elif name.endswith("accuracy"):
            parts.append(f"{name} {value:.2%}")
        elif name != "neg_log_perplexity":
            parts.append(f"{name} {value:.4f}")
    return "  ".join(parts)


def lower_is_better(name: str) -> bool:
    """Return whether a lower value of a mean, or of "bleu", is an improvement."""
    return name not in ("bleu", "neg_log_perplexity") and not name.endswith("accuracy")
