"""Small layers of n-gram attention, and a padded batch for them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from t2t_phrase import registry
from t2t_phrase.layers.ngrams.ngram_attention import NgramAttention

# Orders, and heads for each of them where the structure is homogeneous.
DEALS = {(1,): (3,), (1, 2): (1, 2), (1, 3): (2, 1), (1, 2, 3): (1, 1, 1), (2, 4): (2, 1)}
D, H = 12, 3
_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(3, 5, D)).astype("float32")
MEMORY = _RNG.normal(size=(3, 6, D)).astype("float32")
LENGTHS = (5, 1, 3)  # of X; those of MEMORY are one more
X_IDS = np.array([[7] * n + [0] * (5 - n) for n in LENGTHS])
MEMORY_IDS = np.array([[7] * (n + 1) + [0] * (5 - n) for n in LENGTHS])


def make(kind: str, orders: tuple[int, ...] = (1, 2), **options: Any) -> NgramAttention:
    """Return a new layer; `head_counts` are those of `DEALS`."""
    if kind.startswith("homogeneous"):
        options["head_counts"] = DEALS[orders]
    return registry.attentions[kind](
        **{"num_heads": H, "hidden_size": D, "orders": orders, **options}
    )


@functools.cache
def built(
    kind: str, position: str = "decoder", orders: tuple[int, ...] = (1, 2), limit: int = 0
) -> NgramAttention:
    """Return a layer with weights, the same in every call."""
    options: dict[str, Any] = {"max_relative_position": limit}
    if kind.startswith("interleaved"):
        options["look_ahead"] = position == "encoder"
    layer = make(kind, orders, **options)
    layer.build((None, None, D), (None, None, D))
    return layer
