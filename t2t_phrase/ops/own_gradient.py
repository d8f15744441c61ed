"""Functions that bring their own gradient, on every backend of Keras."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import ops, tree


def own_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with the outputs and the gradient that `function` returns.

    Use this instead of `keras.ops.custom_gradient`, whose backends pass the gradients of outputs in
    different ways; on PyTorch, it allows a single output.

    Args:
        function: takes tensors and returns (outputs, gradient). Outputs are a tensor or a tuple of
            them; `gradient` takes the gradient of each output as an argument, and returns those of
            the inputs, one tensor or a tuple. With TensorFlow, it must not read variables.
    """
    if keras.backend.backend() == "torch":
        return _on_torch(function)

    @ops.custom_gradient
    def run(*inputs: Any) -> Any:
        outputs, gradient = function(*inputs)

        def passed(*args: Any, upstream: Any = None) -> Any:
            # TensorFlow passes the gradients of the outputs as separate arguments, JAX by name.
            return gradient(*tree.flatten(args if upstream is None else upstream))

        return outputs, passed

    return run


def _on_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    class Run(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, *inputs: Any) -> Any:
            outputs, context.gradient = function(*inputs)
            return outputs

        @staticmethod
        def backward(context: Any, *upstream: Any) -> Any:
            return context.gradient(*upstream)

    return lambda *inputs: Run.apply(*map(ops.convert_to_tensor, inputs))
