"""Gain of each special operation alone: the whole step with Keras' own operation in its place.

    python benchmarks/operations_alone.py --work=training [--xla] [--dtype=mixed_bfloat16]
    python benchmarks/operations_alone.py --work=decoding --hparams_set=transformer_multi30k

One process has the package's own model, for each operation a model with only that operation
replaced, and one with all replaced. They take turns, one update or one decoded batch at a time.
For each, the median of (its time / the time of the package's own) is printed: 1.05 means that the
operation gains 5%. `unchanged` is the package's own a second time, which shows the noise.

The search of parts of a batch on separate cores is measured by `parts_alone.py`, with `decode.py`
and `decode.py --whole` in turn, because the number of threads is fixed for a process.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from measure import base_model, limit_threads, parser, random_ids, report, search_of, stepper_of
from script import run_script

# Rows, length and vocabulary of a batch for training; rows, source and target length for decoding.
SIZES = {
    "transformer_base": ((32, 32, 32_000), (32, 24, 32)),
    "transformer_multi30k": ((102, 20, 8_000), (64, 16, 16)),
}
Patch = tuple[str, Any]


def keras_dropout() -> list[Patch]:
    """Return the patches that make layers drop out as Keras does."""
    import keras

    def call(self: Any, x: Any, training: bool = False) -> Any:
        if not (training and self.rate):
            return x
        return keras.random.dropout(x, self.rate, seed=self.seed_generator)

    return [("t2t_phrase.layers.common.dropout.Dropout.call", call)]


def keras_layer_norm() -> list[Patch]:
    """Return the patches that make layers normalise as Keras does."""
    from keras import ops

    def call(self: Any, x: Any) -> Any:
        normed = ops.layer_normalization(
            ops.convert_to_tensor(x), self.gamma, self.beta, epsilon=self.epsilon
        )
        return ops.cast(normed, self.compute_dtype)

    return [("t2t_phrase.layers.common.layer_norm.LayerNorm.call", call)]


def keras_sums() -> list[Patch]:
    """Return the patches that sum rows with `ops.sum` and add biases with `ops.add`."""
    import keras
    from keras import ops

    def row_sum(x: Any) -> Any:
        return ops.sum(ops.reshape(x, (-1, x.shape[-1])), axis=0)

    def add_bias(x: Any, bias: Any) -> Any:
        return ops.add(x, ops.cast(bias, x.dtype))

    return [
        ("t2t_phrase.layers.common.dense.Dense.call", keras.layers.Dense.call),
        ("t2t_phrase.models.transformer.add_bias", add_bias),
        ("t2t_phrase.ops.layer_norm.row_sum", row_sum),
        ("t2t_phrase.ops.cross_entropy.row_sum", row_sum),
    ]


def keras_adam() -> list[Patch]:
    """Return the patches that update weights with Keras' Adam."""
    import keras

    return [("t2t_phrase.training.optimizers.optimizer_class", lambda name: keras.optimizers.Adam)]


def plain_layout() -> list[Patch]:
    """Return the patches that keep matrices as they are."""
    return [("t2t_phrase.ops.product_layout._transposed", lambda x: False)]


def whole_vocabulary() -> list[Patch]:
    """Return the patches that choose the best of the whole vocabulary at once."""
    return [("t2t_phrase.ops.likeliest.block_width", lambda vocab, count: None)]


TRAINING = {
    "dropout": keras_dropout,
    "layer_norm": keras_layer_norm,
    "bias_sums": keras_sums,
    "fused_adam": keras_adam,
}
DECODING = {
    "layer_norm": keras_layer_norm,
    "product_layout": plain_layout,
    "vocabulary_blocks": whole_vocabulary,
}


@contextlib.contextmanager
def replaced(*operations: Callable[[], list[Patch]]) -> Iterator[None]:
    """Replace operations while a graph is traced."""
    with contextlib.ExitStack() as stack:
        for operation in operations:
            for target, value in operation():
                stack.enter_context(mock.patch(target, value))
        yield


def training_step(args: Any) -> Callable[[], object]:
    """Return a function that makes one update of a new model."""
    rows, length, vocab_size = SIZES[args.hparams_set][0]
    hparams, model = base_model(args.dtype, vocab_size, args.hparams_set)
    stepper = stepper_of(hparams.replace(optimizer="adam"), model, xla=args.xla)
    ids = random_ids(rows, length, vocab_size)
    return lambda: float(stepper.train({"inputs": ids, "targets": ids}).objective)


def decoded_batch(args: Any) -> Callable[[], object]:
    """Return a function that searches one batch with a new model."""
    vocab_size = SIZES[args.hparams_set][0][2]
    rows, source, target = SIZES[args.hparams_set][1]
    _, model = base_model(args.dtype, vocab_size, args.hparams_set)
    return search_of(
        model, rows=rows, source=source, target=target, vocab_size=vocab_size, xla=args.xla
    )


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--work", choices=["training", "decoding"], default="training")
    options.add_argument("--hparams_set", choices=list(SIZES), default="transformer_base")
    args = options.parse_args()
    limit_threads()
    operations = TRAINING if args.work == "training" else DECODING
    make = training_step if args.work == "training" else decoded_batch
    variants = {"own": (), "unchanged": (), **{name: (made,) for name, made in operations.items()}}
    variants["all"] = tuple(operations.values())
    runs = {}
    for name, patches in variants.items():
        with replaced(*patches):
            runs[name] = make(args)
            runs[name]()
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for run in runs.values():
        run()
    for _ in range(args.repeats):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    ratios = {
        name: round(
            statistics.median(x / own for x, own in zip(times, seconds["own"], strict=True)), 3
        )
        for name, times in seconds.items()
        if name != "own"
    }
    report(
        benchmark="operations_alone",
        work=args.work,
        hparams_set=args.hparams_set,
        dtype=args.dtype,
        xla=args.xla,
        time_without=ratios,
    )


if __name__ == "__main__":
    run_script(main)
