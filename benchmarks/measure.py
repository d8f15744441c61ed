"""Shared code of all benchmarks: medians, and the machine's matrix rate as the upper limit."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

THREADS = 2


def parser(description: str, *, repeats: bool = True, xla: bool = True) -> argparse.ArgumentParser:
    """Return a parser with the options of most benchmarks.

    Args:
        description: the script's docstring.
        repeats: whether the benchmark is repeated.
        xla: whether there is a choice between graphs and XLA.
    """
    made = argparse.ArgumentParser(description=description)
    if repeats:
        made.add_argument(
            "--repeats", type=int, default=7, help="timed runs; the median is reported"
        )
    made.add_argument("--dtype", default="float32", choices=["float32", "mixed_bfloat16"])
    if xla:
        made.add_argument("--xla", action="store_true", help="compile with XLA")
    return made


def uses_jax() -> bool:
    """Return whether the benchmark runs on JAX, for GPUs where TensorFlow is not installed."""
    return os.environ.get("KERAS_BACKEND") == "jax"


def limit_threads(threads: int = THREADS) -> None:
    """Make TensorFlow use `threads` threads, and oneDNN as the commands do.

    Call this before TensorFlow is imported.
    """
    if uses_jax():
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # As `prefer_onednn`; the library is not installed where OpenNMT-tf is.
    if platform.machine() in ("x86_64", "AMD64"):
        os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)


def median_seconds(run: Callable[[], object], *, repeats: int) -> float:
    """Return the median duration of `run`, after one warm-up run."""
    run()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def matrix_rate(policy: str = "float32", *, repeats: int = 7, rows: int = 1024) -> float:
    """Return the FLOP/s of products of (rows, 512) and (512, 2048) matrices.

    These are the shapes of the feed-forward network. Twenty products run in one compiled call, to
    make the overhead of the call negligible. With JAX, on a GPU: large square matrices.

    Args:
        policy: "float32", or "mixed_bfloat16" for the rate in bfloat16.
        repeats: timed runs.
        rows: of the first matrix.
    """
    if uses_jax():
        from jax_rate import square_rate

        return square_rate(policy, median_seconds, repeats=repeats)
    import tensorflow as tf

    dtype = policy.removeprefix("mixed_")
    x = tf.cast(tf.random.normal((rows, 512)), dtype)
    kernels = [tf.cast(tf.random.normal((512, 2048)), dtype) for _ in range(20)]

    @tf.function
    def products() -> tf.Tensor:
        return tf.add_n([tf.matmul(x, kernel)[0, 0] for kernel in kernels])

    seconds = median_seconds(lambda: products().numpy(), repeats=repeats)
    return 20 * 2 * rows * 512 * 2048 / seconds


def base_model(
    dtype: str, vocab_size: int = 32000, name: str = "transformer_base", overrides: str = ""
):
    """Return (hparams, model) of a registered set with changes; the weights are random."""
    from t2t_phrase import registry

    registry.discover()
    hparams = registry.hparams[name]().override(overrides).replace(dtype_policy=dtype)
    family = hparams.model if hasattr(hparams, "model") else "transformer"
    return hparams, registry.models[family].from_hparams(hparams, vocab_size=vocab_size)


def stepper_of(hparams: Any, model: Any, *, xla: bool = False) -> Any:
    """Return an object whose `train` makes updates, as the trainer does.

    Args:
        hparams: of the model.
        model: the first update starts from its weights.
        xla: whether to compile with XLA; JAX always does.
    """
    from t2t_phrase.training.build import Built, make_stepper
    from t2t_phrase.training.distribution import make_strategy
    from t2t_phrase.training.optimizers import make_optimizer
    from t2t_phrase.training.schedules import make_schedule

    given = None if uses_jax() else xla
    optimizer = make_optimizer(hparams, make_schedule(hparams, train_steps=1000))
    optimizer.build(model.trainable_variables)
    strategy = make_strategy()
    return make_stepper(Built(model, optimizer, 0), hparams, seed=0, strategy=strategy, xla=given)


def search_of(
    model: Any,
    *,
    rows: int,
    source: int,
    target: int,
    vocab_size: int = 32000,
    beam: int = 4,
    xla: bool = False,
    workers: int = 1,
    quantize: Literal["", "int8"] = "",
) -> Callable[[], object]:
    """Return a beam search for random sentences, as the translator compiles it.

    All outputs have `target` tokens, because EOS may not come earlier. The sentences are searched
    in `workers` parts at the same time.
    """
    from t2t_phrase.compile import compiled, uses_xla
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.decoding.search.output_limits import OutputLimits
    from t2t_phrase.decoding.search.search_weights import prepare_weights
    from t2t_phrase.decoding.search.translate_ids import search

    options = DecodeHParams(
        beam_size=beam, alpha=0.6, min_length=target, return_beams=True, quantize=quantize
    )
    run = compiled(
        lambda weights, features: search(
            model,
            features,
            OutputLimits(np.full((features["inputs"].shape[0],), target, "int32"), target),
            options,
            weights=weights,
            growing=not uses_xla(xla),
        ),
        variables=model.variables,
        xla=xla,
    )
    # Once for all batches, as in `Translator`.
    weights = prepare_weights(model, quantized=quantize == "int8")
    inputs = random_ids(rows, source, vocab_size)
    ids, _ = search_parts(run, weights, {"inputs": inputs}, workers)
    assert (ids != 0).all(), f"every output must have {target} tokens"
    return lambda: search_parts(run, weights, {"inputs": inputs}, workers)


def search_parts(
    run: Callable[..., Any], weights: Any, features: dict[str, np.ndarray], workers: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return ids and scores of sentences that are searched in parts, as in the translator.

    Args:
        run: maps weights and features to `Hypotheses`.
        weights: see `prepare_weights`.
        features: of all sentences.
        workers: number of parts searched at the same time.
    """
    from t2t_phrase.decoding.batches import Batch
    from t2t_phrase.decoding.parts import search_in_parts

    def search_part(number: int, batch: Batch, part: slice) -> tuple[np.ndarray, np.ndarray]:
        del number
        given = {
            name: np.resize(x, (batch.shape[0], *x.shape[1:]))[part] for name, x in features.items()
        }
        found = run(weights, given)
        return np.asarray(found.ids), np.asarray(found.scores)

    shape = features["inputs"].shape
    batches = [(0, Batch(tuple(range(shape[0])), shape))]
    ((_, found),) = search_in_parts(search_part, batches, workers=workers)
    return found


def workers_for(sentences: int, *, xla: bool, threads: int = THREADS) -> int:
    """Divide the threads as the decoder does; return the number of parts to search at once."""
    from t2t_phrase.cores import divide_cores

    return 1 if xla else divide_cores(sentences, threads)


def random_ids(rows: int, length: int, vocab_size: int = 32000, seed: int = 0) -> np.ndarray:
    """Return (rows, length) int32 ids without padding, EOS at the end."""
    ids = np.random.default_rng(seed).integers(3, vocab_size, (rows, length)).astype("int32")
    ids[:, -1] = 1
    return ids


def report(**values: object) -> None:
    """Print one line of JSON."""
    print(json.dumps(values), flush=True)
