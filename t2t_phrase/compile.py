"""Compiles a function for whichever Keras backend is in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras


def compiled(function: Callable[..., Any], *, xla: bool | None = None) -> Callable[..., Any]:
    """Return `function` compiled once for every combination of argument shapes.

    Args:
        function: takes and returns nested tensors; may read variables but change none. JAX reads
            them once, when it compiles: pass weights that will change as arguments there.
        xla: whether TensorFlow compiles by XLA; None = on a GPU only, since on a CPU its plain
            graphs run as fast and compile sooner. JAX always does.
    """
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    import tensorflow as tf

    if xla is None:
        xla = bool(tf.config.list_logical_devices("GPU"))
    return tf.function(function, jit_compile=xla)
