"""Updates of a small model on random batches, on whichever engine Keras uses.

TensorFlow makes them in the process of a test, JAX in another one; see `by_jax`.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from backend_process import run_under

from t2t_phrase import registry
from t2t_phrase.features import IDS
from t2t_phrase.runs.variable_names import model_variables
from t2t_phrase.training.build import build, make_stepper
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.schedules import make_schedule

VOCAB = 32
_SCRIPT = """
import json
import updates
updates.save(sys.argv[1], json.loads(sys.argv[2]))
"""


def by_tensorflow(**options: Any) -> dict[str, Any]:
    """Return what `make` returns in this process."""
    return make(**options)


def by_jax(folder: pathlib.Path, *, flags: str = "", **options: Any) -> dict[str, Any]:
    """Return what `make` returns in a process with JAX and without TensorFlow.

    Args:
        folder: an existing one.
        flags: further XLA_FLAGS.
        **options: of `make`.
    """
    path = folder / "updates.npz"
    run_under(_SCRIPT, path, json.dumps(options), flags=flags)
    return _nested(np.load(path))


def make(
    *,
    hparams: Mapping[str, Any],
    model: str,
    count: int = 3,
    rows: int = 8,
    seed: int = 5,
    rate: float = 0.02,
    replicas: int = 1,
    evaluated: bool = True,
) -> dict[str, Any]:
    """Make updates, and return by name what is known of each, the evaluation and the weights.

    Args:
        hparams: fields of the model's hyperparameters.
        model: its registered name.
        count: how many.
        rows: of each batch.
        seed: of weights, data and dropout.
        rate: the learning rate, which is constant.
        replicas: devices that must be there.
        evaluated: whether to evaluate at the end.
    """
    registry.discover()
    kind = registry.models[model].hparams_class
    fields = {"learning_rate_schedule": "constant", "learning_rate_constant": rate, **hparams}
    options = kind.from_dict({**kind().to_dict(), **fields})
    strategy = make_strategy()
    assert strategy.num_replicas_in_sync == replicas
    built = build(
        options,
        name=model,
        vocab_size=VOCAB,
        target_vocab_size=None,
        schedule=make_schedule(options, train_steps=1000),
        seed=seed,
        strategy=strategy,
    )
    stepper = make_stepper(built, options, seed=seed, strategy=strategy)
    dev = random_batch(options.replace(packed_length=0), rows, seed=9)
    if evaluated:
        # Compiled before any update, whose figures may have other names.
        stepper.evaluate(dev)
    results: dict[str, Any] = {"losses": [], "norms": [], "tokens": [], "scales": [], "means": []}
    for number in range(count):
        result = stepper.train(random_batch(options, rows, seed=number % 4))
        results["losses"].append(float(result.objective) / float(result.tokens))
        results["norms"].append(float(result.grad_norm))
        results["tokens"].append(float(result.tokens))
        results["scales"].append(float(result.loss_scale))
        results["means"].append(
            [float(number) for mean in result.means.values() for number in mean]
        )
    if evaluated:
        means = stepper.evaluate(dev)
        results["evaluated"] = [number for mean in means.values() for number in mean]
    results["compilations"] = stepper.compilations
    for name, variable in model_variables(built.model).items():
        results[f"weights/{name}"] = np.array(variable)
    return {name: np.array(value) for name, value in results.items()}


def save(path: str, options: Mapping[str, Any]) -> None:
    """Write what `make` returns for some options to a file."""
    np.savez(path, **{name.replace("/", "|"): value for name, value in make(**options).items()})


def random_batch(options: Any, rows: int, *, seed: int) -> dict[str, np.ndarray]:
    """Return a batch with padding and the features that a model reads; of packed rows, two pairs.

    Args:
        options: hyperparameters.
        rows: how many.
        seed: of everything; also decides the lengths, of which there are two.
    """
    random = np.random.default_rng(seed)
    length = options.packed_length or (9, 12)[seed % 2]
    batch: dict[str, np.ndarray] = {}
    pairs = {}
    for side, name in IDS.items():
        ids = random.integers(3, VOCAB, (rows, length)).astype(np.int32)
        ends = random.integers(length // 2 + 1, length + 1, rows)
        numbers = np.ones((rows, length), np.int32)
        if options.packed_length:
            cuts = random.integers(2, length // 2, rows)
            numbers += np.arange(length) >= cuts[:, None]
            ids[np.arange(rows), cuts - 1] = 1
        ids[np.arange(rows), ends - 1] = 1
        padding = np.arange(length) >= ends[:, None]
        ids[padding] = numbers[padding] = 0
        batch[name], pairs[f"{side}_pairs"] = ids, numbers
    for feature in options.training_features:
        batch[feature.name] = _feature(feature, batch, random)
    return batch | (pairs if options.packed_length else {})


def _feature(feature: Any, batch: Mapping[str, np.ndarray], random: Any) -> np.ndarray:
    ids = batch[IDS[feature.side]]
    if feature.name == "phrases":
        begins = random.random(ids.shape) < 0.4
        begins[:, 0] = True
        values = np.cumsum(begins, axis=1)
    elif feature.name == "levels":
        values = random.integers(1, 6, ids.shape)
        values[:, 0] = 1
    elif feature.name == "alignment":
        values = random.integers(-1, ids.shape[1] // 2, ids.shape)
    else:
        values = random.integers(0, 3, ids.shape)
    return np.where(ids == 0, feature.pad, values).astype(np.int32)


def _nested(found: Any) -> dict[str, Any]:
    return {name.replace("|", "/"): found[name] for name in found}
