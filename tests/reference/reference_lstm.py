"""A long short-term memory by loops of float64 arithmetic, one sequence at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

Vector = list[float]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def run(
    inputs: Sequence[Sequence[float]],
    weights: Mapping[str, np.ndarray],
    *,
    state: tuple[Sequence[float], Sequence[float]] | None = None,
    state_mask: Sequence[float] | None = None,
    reverse: bool = False,
) -> tuple[list[Vector], tuple[Vector, Vector]]:
    """Return the outputs in the order of `inputs`, and (h, c) after the last step taken.

    Args:
        inputs: T vectors, all of them real.
        weights: "kernel" (D, 4U), "recurrent_kernel" (U, 4U) and "bias" (4U,); the four are the
            input gate, the forget gate, the candidate and the output gate.
        state: (h, c); None: zeros.
        state_mask: what h is multiplied with on its way to the gates.
        reverse: whether to begin with the last input.
    """
    units = len(weights["bias"]) // 4
    h, c = state or ([0.0] * units, [0.0] * units)
    outputs: list[Vector] = [[]] * len(inputs)
    order = range(len(inputs))
    for t in reversed(order) if reverse else order:
        kept = h if state_mask is None else [a * b for a, b in zip(h, state_mask, strict=True)]

        def gate(name: int, unit: int, t: int = t, kept: Sequence[float] = kept) -> float:
            column = name * units + unit
            total = float(weights["bias"][column])
            total += sum(x * weights["kernel"][d, column] for d, x in enumerate(inputs[t]))
            return total + sum(
                x * weights["recurrent_kernel"][u, column] for u, x in enumerate(kept)
            )

        c = [
            sigmoid(gate(1, u)) * c[u] + sigmoid(gate(0, u)) * math.tanh(gate(2, u))
            for u in range(units)
        ]
        h = [sigmoid(gate(3, u)) * math.tanh(c[u]) for u in range(units)]
        outputs[t] = h
    return outputs, (list(h), list(c))
