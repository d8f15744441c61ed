"""The gain of each way of multiplying by 8-bit weights on a CPU, for single products.

    python benchmarks/eight_bits.py [--rows=64]
    PYTHONPATH=folder python benchmarks/eight_bits.py   # with onnx and onnxruntime in this folder

The matrices are those of a decoding step of `transformer_base`: the attention projections (512,
512), the feed-forward network (512, 2048) and (2048, 512), and a vocabulary of 32,000. One thread
multiplies 64 rows, as many as 16 sentences with beam size 4 have; twenty kernels (of the
vocabulary, four) take turns, so that they do not stay in the cache. The time includes rounding the
rows to integers.

The ways are float32 and bfloat16 without integers; Keras' `quantize("int8")`; integers in float32,
as with `quantize=int8` under XLA or without oneDNN; oneDNN with variable and with constant weights,
as with `quantize=int8` in a graph; and, where it is installed, ONNX Runtime in float32 and after
its `quantize_dynamic`. Prints a table of the median speeds as multiples of float32.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import limit_threads
from script import run_script

from t2t_phrase.comparison.table import grid

SHAPES = ((512, 512), (512, 2048), (2048, 512), (512, 32_000))
# The most bytes of all kernels that take turns.
MOST_BYTES = 3e8
Product = Callable[[Any, Any], Any]


def tensorflow_ways() -> dict[str, tuple[Callable[[np.ndarray], Any], Product]]:
    """Return for each way a function that prepares a kernel, and one that multiplies by it."""
    import keras
    import tensorflow as tf
    from keras import ops

    from t2t_phrase.ops import quantized
    from t2t_phrase.ops.quantized import quantize, quantized_product

    def keras_layer(kernel: np.ndarray) -> Any:
        layer = keras.layers.Dense(kernel.shape[1], use_bias=False)
        layer.build((None, kernel.shape[0]))
        layer.kernel.assign(kernel)
        layer.quantize("int8")
        return layer

    def in_float32(x: Any, kernel: Any) -> Any:
        found, quantized._by_onednn = quantized._by_onednn, lambda: False
        try:
            return quantized_product(x, kernel)
        finally:
            quantized._by_onednn = found

    def as_bfloat16(kernel: np.ndarray) -> Any:
        return ops.cast(ops.transpose(kernel), "bfloat16")

    def in_bfloat16(x: Any, kernel: Any) -> Any:
        product = tf.matmul(ops.cast(x, "bfloat16"), kernel, transpose_b=True)
        return ops.cast(product, "float32")

    return {
        "float32": (tf.constant, lambda x, kernel: x @ kernel),
        "bfloat16": (as_bfloat16, in_bfloat16),
        "Keras, int8": (keras_layer, lambda x, layer: layer(x)),
        "integers in float32": (quantize, in_float32),
        "oneDNN, int8": (quantize, quantized_product),
        "oneDNN, int8, constant": (
            quantize,
            lambda x, kernel: quantized_product(x, kernel, constant=True),
        ),
    }


def in_turn(product: Product, kernels: list[Any]) -> Callable[[np.ndarray], object]:
    """Return a compiled function that multiplies by one kernel after the other."""
    import tensorflow as tf

    @tf.function(autograph=False)
    def products(x: Any) -> Any:
        found = []
        for kernel in kernels:
            # One product begins when the one before has ended.
            with tf.control_dependencies(found[-1:]):
                found.append(product(tf.identity(x), kernel)[0, 0])
        return tf.add_n(found)

    return lambda x: products(x).numpy()


def onnx_runtime(kernels: list[np.ndarray], quantized: bool) -> Callable[[np.ndarray], object]:
    """Return a function that multiplies by one kernel after the other in ONNX Runtime."""
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    nodes, outputs, weights = [], [], []
    width = kernels[0].shape[0]
    for number, kernel in enumerate(kernels):
        weights.append(numpy_helper.from_array(kernel, f"kernel_{number}"))
        nodes.append(helper.make_node("MatMul", ["x", f"kernel_{number}"], [f"y_{number}"]))
        nodes.append(helper.make_node("ReduceMax", [f"y_{number}"], [f"most_{number}"]))
        outputs.append(helper.make_tensor_value_info(f"most_{number}", TensorProto.FLOAT, [1, 1]))
    rows = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, width])
    graph = helper.make_graph(nodes, "products", [rows], outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, "model.onnx")
        onnx.save(model, path)
        if quantized:
            from onnxruntime.quantization import quantize_dynamic

            smaller = pathlib.Path(scratch, "int8.onnx")
            quantize_dynamic(path, smaller)
            path = smaller
        session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    return lambda x: session.run(None, {"x": np.asarray(x)})


def medians(runs: dict[str, Callable[[Any], object]], x: Any, repeats: int) -> dict[str, float]:
    """Return the median duration of each run in seconds; the runs take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run(x)
    for _ in range(repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run(x)
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in seconds.items()}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rows", type=int, default=64, help="rows to multiply")
    options.add_argument("--repeats", type=int, default=9, help="timed runs of each way")
    args = options.parse_args()
    limit_threads(1)
    random = np.random.default_rng(0)
    found: dict[str, list[str]] = {}
    for shape in SHAPES:
        x = random.normal(size=(args.rows, shape[0])).astype("float32")
        count = max(2, min(20, int(MOST_BYTES / (4 * np.prod(shape)))))
        kernels = [
            (random.normal(size=shape) / shape[0] ** 0.5).astype("float32") for _ in range(count)
        ]
        runs = {
            name: in_turn(product, [prepare(kernel) for kernel in kernels])
            for name, (prepare, product) in tensorflow_ways().items()
        }
        try:
            for name, quantized in (("float32", False), ("int8, dynamic", True)):
                runs[f"ONNX Runtime, {name}"] = onnx_runtime(kernels, quantized)
        except ImportError:
            print("ONNX Runtime is not installed", flush=True)
        seconds = medians(runs, x, args.repeats)
        for name, taken in seconds.items():
            found.setdefault(name, []).append(f"{seconds['float32'] / taken:.2f}")
    heads = ["way", *("x".join(map(str, shape)) for shape in SHAPES)]
    print(grid([heads, *([name, *speeds] for name, speeds in found.items())]))


if __name__ == "__main__":
    run_script(main)
