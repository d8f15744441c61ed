"""Hard attention: every query reads the one memory position that it is given."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.ops.position import positions


def hard_attention(value: Any, places: Any) -> Any:
    """Return (B, T, W): for query i, the value at position `places[i]`.

    This is the weighted sum of the values with one-hot weights, so a position outside the memory,
    such as -1, gives zeros.

    Args:
        value: (B, S, W) float.
        places: (B, T) int.
    """
    one_hot = ops.equal(ops.cast(places, "int32")[..., None], positions(ops.shape(value)[1]))
    return ops.matmul(ops.cast(one_hot, value.dtype), value)
