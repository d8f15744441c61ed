"""The matrix rate of the device that JAX uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax


def square_rate(policy: str, median_seconds: Callable[..., float], *, repeats: int) -> float:
    """Return the FLOP/s of products of square matrices, large enough to keep the device busy.

    Args:
        policy: "float32" (in TF32 where the GPU has it, as in XLA) or "mixed_bfloat16".
        median_seconds: see `measure`.
        repeats: timed calls, of twenty products each.
    """
    size = 1024 if jax.default_backend() == "cpu" else 8192
    keys = jax.random.split(jax.random.key(0))
    dtype = policy.removeprefix("mixed_")
    x, y = (jax.random.normal(key, (size, size), dtype) for key in keys)

    @jax.jit
    def products(x: Any, y: Any) -> Any:
        return jax.lax.fori_loop(0, 20, lambda _, z: z @ y / jax.numpy.asarray(size**0.5, dtype), x)

    seconds = median_seconds(lambda: products(x, y).block_until_ready(), repeats=repeats)
    return 20 * 2 * size**3 / seconds
