"""Converts TensorFlow functions to ONNX graphs, keeping the names of inputs and outputs."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from t2t_phrase.config import UserError

OPSET = 18
# An ONNX file is one protocol buffer, which holds less than 2 GB.
MOST_BYTES = 2**31 - 2**26
Tensors = Mapping[str, Any]


def check_packages() -> None:
    """Check that the converter and the runtime are installed.

    Raises:
        UserError: a package is not installed.
    """
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import tf2onnx  # noqa: F401
    except ImportError as error:
        raise UserError(
            "--format=onnx needs the packages tf2onnx, onnx and onnxruntime, which cannot be "
            f"imported ({error}); pip install 't2t_phrase[onnx]'"
        ) from error


def to_onnx(
    function: Callable[[Tensors], Tensors], inputs: Mapping[str, tf.TensorSpec], *, name: str
) -> Any:
    """Return the graph of a function, an `onnx.ModelProto` that includes the weights.

    All inputs are kept, even those that are not read.

    Args:
        function: maps tensors by name to tensors by name.
        inputs: shapes and types of the inputs by name.
        name: the name of the graph.

    Raises:
        UserError: a package is not installed, or cannot convert the graph; or the weights are too
            large for one file.
    """
    check_packages()
    import onnx

    names: list[str] = []

    # TensorFlow allows fewer characters in names than ONNX does.
    def numbered(*tensors: Any) -> dict[str, Any]:
        found = function(dict(zip(inputs, tensors, strict=True)))
        names[:] = found
        return {f"output_{number}": tensor for number, tensor in enumerate(found.values())}

    signature = [
        tf.TensorSpec(spec.shape, spec.dtype, name=f"input_{number}")
        for number, spec in enumerate(inputs.values())
    ]
    with conversion(name):
        traced = tf.function(numbered, input_signature=signature, autograph=False)
        concrete = traced.get_concrete_function()
        _check_size(concrete, name)
        with _quiet():
            model = _converted(concrete, name)
        onnx.checker.check_model(model)
    renamed = {f"input_{number}": name for number, name in enumerate(inputs)}
    renamed |= {f"output_{number}": name for number, name in enumerate(names)}
    _rename(model.graph, renamed)
    _allow_empty(model.graph)
    model.graph.name = name
    return model


def _converted(concrete: Any, name: str) -> Any:
    """Return the `onnx.ModelProto` of a `tf.ConcreteFunction`, whose variables become constants."""
    from tf2onnx import optimizer, tf_loader, tfonnx

    inputs, outputs = (
        [tensor.name for tensor in tensors if tensor.dtype != tf.resource]
        for tensors in (concrete.inputs, concrete.outputs)
    )
    names = {each.name: each.name.partition(":")[0] for each in concrete.inputs}
    names |= {tensor.name: key for key, tensor in concrete.structured_outputs.items()}
    with tf.device("/cpu:0"):
        frozen = tf_loader.from_function(concrete, inputs, outputs)
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(frozen, name="")
            converted = tfonnx.process_tf_graph(
                graph,
                opset=OPSET,
                input_names=inputs,
                output_names=outputs,
                tensors_to_rename=names,
            )
    # Not all of tf2onnx's passes: `BackToBackOptimizer` joins two reshapes even where the second
    # takes lengths from its input, and `ReshapeOptimizer` writes -1 for a length, which no runtime
    # can infer for an empty array.
    passes = {
        each.__name__: each
        for each in (
            optimizer.TransposeOptimizer,
            optimizer.ConstFoldOptimizer,
            optimizer.LoopOptimizer,
            optimizer.MergeDuplicatedNodesOptimizer,
            optimizer.IdentityOptimizer,
            optimizer.EinsumOptimizer,
        )
    }
    return optimizer.optimize_graph(converted, optimizers=passes).make_model(name)


@contextlib.contextmanager
def conversion(name: str) -> Iterator[None]:
    """Turn errors of TensorFlow and the converter into UserErrors.

    Args:
        name: the name of the graph.

    Raises:
        UserError: a graph cannot be made or converted.
    """
    import onnx

    try:
        yield
    except UserError:
        raise
    except (
        AttributeError,
        TypeError,
        ValueError,
        RuntimeError,
        onnx.checker.ValidationError,
        tf.errors.OpError,
    ) as error:
        reason = " ".join(str(error).split())[:300]
        raise UserError(
            f"--format=onnx: the {name} cannot be converted ({type(error).__name__}: {reason}); "
            "export a SavedModel of it"
        ) from error


def inputs_read(model: Any) -> set[str]:
    """Return the names of all tensors that the nodes of an `onnx.ModelProto` read."""
    return {name for graph in _graphs(model.graph) for node in graph.node for name in node.input}


def _check_size(concrete: Any, name: str) -> None:
    """Raise a UserError if the weights that a function reads do not fit into one file."""
    constants = [op for op in concrete.graph.get_operations() if op.type == "Const"]
    size = sum(
        variable.shape.num_elements() * variable.dtype.size for variable in concrete.variables
    )
    size += sum(op.outputs[0].shape.num_elements() * op.outputs[0].dtype.size for op in constants)
    if size > MOST_BYTES:
        raise UserError(
            f"--format=onnx: the weights of the {name} take {size / 2**30:.1f} GB, but an ONNX "
            "file holds at most 2 GB; export a SavedModel of it"
        )


def _rename(graph: Any, names: Mapping[str, str]) -> None:
    for part in _graphs(graph):
        for node in part.node:
            node.input[:] = [names.get(each, each) for each in node.input]
            node.output[:] = [names.get(each, each) for each in node.output]
        for value in (*part.input, *part.output):
            value.name = names.get(value.name, value.name)
        # Shapes of intermediate tensors, which runtimes infer.
        del part.value_info[:]


def _allow_empty(graph: Any) -> None:
    """Let a computed length of 0 in a reshape mean 0, as in TensorFlow.

    By default, 0 stands for the length of the input's axis.
    """
    from onnx import helper

    for part in _graphs(graph):
        constants = {each.name for each in part.initializer}
        for node in part.node:
            if node.op_type == "Reshape" and node.input[1] not in constants:
                node.attribute.append(helper.make_attribute("allowzero", 1))


def _graphs(graph: Any) -> Iterator[Any]:
    """Yield a graph and the graphs inside its nodes, which may read its tensors."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                yield from _graphs(inner)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the log of tf2onnx, which reports its attempts."""
    logger = logging.getLogger("tf2onnx")
    level, disabled = logger.level, logger.disabled
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.disabled = disabled
