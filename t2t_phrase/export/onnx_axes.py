"""The names of tensor axes whose lengths are known only when a graph runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

# The meaning of each name.
AXES = {
    "B": "sentences",
    "S": "source tokens, EOS and padding included",
    "K": "hypotheses of each sentence (beams)",
    "P": "parts of the source, such as its segments",
    "past": "grows from step to step, starting at 0",
}
# A graph is tried with these sizes. The number of parts of a source is at most S.
_SIZES = {"S": 29, "B": 31, "K": 37, "past": 0}
# Names that stand for the same number in the shapes of all tensors.
_SHARED = {"B", "S", "K"}

Axes = tuple[int | str, ...]


def try_shapes(
    encode: Callable[[Mapping[str, Any]], Mapping[str, Any]], inputs: Mapping[str, tf.TensorSpec]
) -> dict[str, Axes]:
    """Return the axes of a function's outputs by name, see `AXES`; known lengths are numbers.

    Args:
        encode: maps "beams" (), K, and arrays of numbers for source tokens (B, S) to tensors.
        inputs: shapes and types of these inputs by name.
    """
    traced = tf.function(encode, input_signature=[dict(inputs)], autograph=False)
    known = traced.get_concrete_function().structured_outputs
    ones = np.ones((_SIZES["B"], _SIZES["S"]), "int32")
    found = traced({**dict.fromkeys(inputs, ones), "beams": np.int32(_SIZES["K"])})
    letters = {size: letter for letter, size in _SIZES.items()}
    return {
        name: tuple(
            letters.get(size, "P") if length is None else length
            for length, size in zip(known[name].shape, tensor.shape, strict=True)
        )
        for name, tensor in found.items()
    }


def name_axes(graph: Any, axes: Mapping[str, Axes]) -> None:
    """Write the axes of inputs and outputs into an ONNX graph.

    Axes that do not stand for the same number everywhere get unique names: runtimes may assume that
    arrays whose axes have the same names are equally large.

    Args:
        graph: an `onnx.GraphProto`.
        axes: axes by the name of the input or output.
    """
    for value in (*graph.input, *graph.output):
        shape = value.type.tensor_type.shape
        # An array without axes has a shape, too.
        shape.SetInParent()
        del shape.dim[:]
        for number, axis in enumerate(axes[value.name]):
            dim = shape.dim.add()
            if isinstance(axis, int):
                dim.dim_value = axis
            else:
                dim.dim_param = axis if axis in _SHARED else f"{axis} ({value.name}, {number})"
