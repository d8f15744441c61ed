"""Compilation of functions for the active Keras backend."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import keras

_TRACED_FOR_XLA = contextvars.ContextVar("traced_for_xla", default=False)


def compiled(
    function: Callable[..., Any],
    *,
    variables: Iterable[keras.Variable] = (),
    xla: bool | None = None,
) -> Callable[..., Any]:
    """Return `function`, compiled once for every combination of argument shapes.

    With Keras on PyTorch, it is not compiled, but runs without recording gradients.

    Args:
        function: takes and returns nested tensors. It may read variables but must not change them.
        variables: the variables that `function` reads, such as `model.variables`. Each call uses
            their current values. JAX would otherwise read them only once, during compilation.
        xla: whether TensorFlow compiles with XLA; None: on a GPU only, because on a CPU its plain
            graphs run as fast and compile sooner. JAX always compiles with XLA.
    """
    if keras.backend.backend() == "jax":
        return _compiled_by_jax(function, list(variables))
    if keras.backend.backend() == "torch":
        return _without_gradients(function)
    return traced(function, jit_compile=uses_xla(xla))


def traced(
    function: Callable[..., Any],
    *,
    input_signature: Sequence[Any] | None = None,
    jit_compile: bool | None = None,
) -> Any:
    """Return a `tf.function` whose Python code is not converted by AutoGraph.

    The conversion would take half of the tracing time. Without it, loops and branches over tensors
    must be operations of Keras or TensorFlow, such as `ops.while_loop`. With Keras on PyTorch,
    `function` is returned as it is.

    Args:
        function: as for `tf.function`, like the other arguments.
        input_signature: the only shapes and types to trace; None: all that occur.
        jit_compile: whether to compile with XLA; None: like the caller.
    """
    if keras.backend.backend() == "torch":
        return function
    import tensorflow as tf

    made = tf.function(
        _traced_for_xla(function) if jit_compile else function,
        input_signature=input_signature,
        jit_compile=jit_compile,
        autograph=False,
    )
    # Each batch shape has its own graph, on purpose; TensorFlow would warn of the fifth.
    made._omit_frequent_tracing_warning = True
    return made


def within_xla() -> bool:
    """Return whether XLA compiles the operations being called.

    Otherwise they run one by one. Call this to select a backend-specific implementation.
    """
    return keras.backend.backend() == "jax" or _TRACED_FOR_XLA.get()


def uses_xla(xla: bool | None = None) -> bool:
    """Return whether `compiled` compiles with XLA.

    Args:
        xla: see `compiled`.
    """
    if keras.backend.backend() != "tensorflow":
        return keras.backend.backend() == "jax"
    if xla is not None:
        return xla
    import tensorflow as tf

    return bool(tf.config.list_logical_devices("GPU"))


def _traced_for_xla(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrapper of `function` in which `within_xla` is true."""

    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        token = _TRACED_FOR_XLA.set(True)
        try:
            return function(*arguments, **named)
        finally:
            _TRACED_FOR_XLA.reset(token)

    return run


def _without_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    run: Callable[..., Any] = torch.no_grad()(function)
    return run


def _compiled_by_jax(
    function: Callable[..., Any], variables: list[keras.Variable]
) -> Callable[..., Any]:
    import jax

    @jax.jit
    def run(values: list[Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        state = list(zip(variables, values, strict=True))
        with keras.StatelessScope(state_mapping=state):
            return function(*arguments, **named)

    def call(*arguments: Any, **named: Any) -> Any:
        return run([variable.value for variable in variables], arguments, named)

    return call
