"""An update with JAX, for benchmarks on machines without TensorFlow (`KERAS_BACKEND=jax`).

The library trains by TensorFlow. The layers, the loss and Keras' optimizers are the same here; the
program that XLA compiles of them is therefore nearly that of `training.step.Stepper`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import keras
import numpy as np


class Result(NamedTuple):
    """The results of an update, see `training.step.StepResult`."""

    objective: Any


class JaxStepper:
    """Updates of a model on one device, without limits to the gradient.

    Each shape of a batch is compiled once.

    Args:
        model: an `EncoderDecoder`.
        optimizer: one of Keras' optimizers, built.
        seed: of dropout.
    """

    def __init__(self, model: Any, optimizer: keras.optimizers.Optimizer, *, seed: int = 0) -> None:
        self.model, self.optimizer, self.seed = model, optimizer, seed
        self.generators = [
            v for v in model.non_trainable_variables if v.name == "seed_generator_state"
        ]
        # The copies are given away by each update, which writes the new values in their place.
        self._values = [value_copy(v) for v in model.trainable_variables]
        self._state = [value_copy(v) for v in optimizer.variables]
        self._step = 0
        self._update = jax.jit(self._new_values, donate_argnums=(0, 1))

    def train(self, features: Mapping[str, np.ndarray]) -> Result:
        """Make one update; see `training.step.Stepper.train`."""
        self._values, self._state, objective = self._update(
            self._values, self._state, np.uint32(self._step), dict(features)
        )
        self._step += 1
        return Result(objective)

    def temporary_bytes(self, features: Mapping[str, np.ndarray]) -> int:
        """Return the memory that an update takes beyond weights, moments and batch."""
        lowered = self._update.lower(
            self._values, self._state, np.uint32(self._step), dict(features)
        )
        return lowered.compile().memory_analysis().temp_size_in_bytes

    def _new_values(self, values: Any, state: Any, step: Any, features: Any) -> Any:
        tokens = keras.ops.cast(keras.ops.count_nonzero(features["targets"]), "float32")

        def mean_objective(values: Any) -> Any:
            mapping = list(zip(self.model.trainable_variables, values, strict=True))
            for index, generator in enumerate(self.generators):
                place = (step * len(self.generators) + index) * 1024
                new = keras.ops.stack([keras.ops.full((), self.seed, "uint32"), place])
                mapping.append((generator, keras.ops.cast(new, "uint32")))
            with keras.StatelessScope(state_mapping=mapping):
                return self.model.batch_loss(features, training=True).objective / tokens

        objective, gradients = jax.value_and_grad(mean_objective)(values)
        values, state = self.optimizer.stateless_apply(state, gradients, values)
        return values, state, objective * tokens


def value_copy(variable: keras.Variable) -> Any:
    """Return a copy of a variable's value."""
    return jax.numpy.array(variable.value, copy=True)


def square_rate(policy: str, median_seconds: Callable[..., float], *, repeats: int) -> float:
    """Return the FLOP/s of products of square matrices, as large as the device can be busy with.

    Args:
        policy: "float32" (by TF32 where the GPU has it, as XLA does) or "mixed_bfloat16".
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
