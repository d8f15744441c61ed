"""Linear maps of states, for loops over time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from t2t_phrase.ops.product import product


def map_states(function: Callable[[Any], Any], x: Any) -> Any:
    """Return `function(x)`; if there is only one position, the function is given (B, D).

    The product of a tensor of three axes with a matrix transposes by a computed permutation, and
    XLA cannot derive its gradient within a loop where the number of rows is unknown. Within loops
    over time there is one position.

    Args:
        function: maps (..., D) to (..., U).
        x: (B, T, D).

    Returns:
        (B, T, U).
    """
    return function(x[:, 0])[:, None] if x.shape[1] == 1 else function(x)


def linear(x: Any, kernel: Any) -> Any:
    """Return `x @ kernel`, computed with `map_states` and `product`.

    Args:
        x: (B, T, D).
        kernel: (D, U), or a result of `operand`.

    Returns:
        (B, T, U).
    """
    return map_states(lambda states: product(states, kernel), x)
