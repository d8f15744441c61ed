"""The map from a decoder's output to the vocabulary."""

from __future__ import annotations

from typing import Any

from keras import ops


def softmax_map(kernel: Any, dtype: str) -> Any:
    """Return the map (D, V) of a matrix (V, D), whose rows may serve as embeddings, too.

    Args:
        kernel: the variable.
        dtype: the type of the computation.
    """
    return ops.transpose(ops.cast(ops.convert_to_tensor(kernel), dtype))
