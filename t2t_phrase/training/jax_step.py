"""One update with JAX: forward, gradient and optimizer as a single pure, compiled function."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import keras
import numpy as np
from jax import numpy as jnp

from t2t_phrase.models.base import Loss, Mean
from t2t_phrase.training.jax_devices import REPLICAS, JaxDevices
from t2t_phrase.training.jax_seeds import seeds
from t2t_phrase.training.loss_scaling import loss_scale
from t2t_phrase.training.stepper import BaseStepper, Features, StepResult

Arrays = list[Any]


@dataclasses.dataclass
class JaxStepper(BaseStepper):
    """Trains and evaluates a model with JAX, on `JaxDevices`.

    The variables of model and optimizer have the new values after each update. Their old arrays are
    donated to the update, which writes the new values in their place. Arguments are those of
    `BaseStepper`; XLA always compiles.

    Attributes:
        update: the compiled function, which returns the new values and a `StepResult`.
    """

    strategy: JaxDevices
    xla: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        # By whether the model is trained: R-Drop has a figure that an evaluation lacks.
        self._names: dict[bool, tuple[str, ...]] = {}
        self.fixed = [
            v for v in self.model.non_trainable_variables if v.name != "seed_generator_state"
        ]
        self.slots = list(self.optimizer.variables)
        self.update = self._compiled(self._updated, given_away=(0, 1))
        gradient = self._compiled(self._norm_of_gradient)
        evaluation = self._compiled(self._reported)

        def train(features: Features, units: Any) -> StepResult:
            values, slots, result = self.update(*self._state(), features, units)
            for variable, value in zip(
                (*self.trainable, *self.slots), (*values, *slots), strict=True
            ):
                variable.assign(value)
            return result._replace(means=self._in_order(result.means, training=True))

        self._train = train
        self._probe = lambda features, units: gradient(*self._state(), features, units)
        self._eval = lambda features: self._in_order(
            evaluation(_values(self.trainable), _values(self.fixed), features), training=False
        )

    def arguments(self, features: Features) -> tuple[Any, ...]:
        """Return the arguments of `update` for a batch, to lower or to compile it by hand."""
        return (*self._state(), self._given("train", features), self._units(features, None))

    def _state(self) -> tuple[Arrays, Arrays, Arrays]:
        return _values(self.trainable), _values(self.slots), _values(self.fixed)

    def _compiled(self, function: Callable[..., Any], given_away: Sequence[int] = ()) -> Any:
        # Results have the layout of the variables, so that later calls need not move them.
        layout = self.strategy.sharding() if self.replicas > 1 else None
        return jax.jit(function, donate_argnums=given_away, out_shardings=layout)

    def _given(self, kind: str, features: Features) -> Any:
        """Return (parts, rows, length) of each feature, on the devices that need the rows."""
        parts = 1 if kind == "evaluation" else self.parts
        arrays = {
            name: np.reshape(array, (parts, -1, np.shape(array)[-1]))
            for name, array in features.items()
        }
        if self.replicas == 1:
            return arrays
        # Each part is divided among all devices, so shards are numbered as with TensorFlow.
        return jax.device_put(arrays, self.strategy.sharding(None, REPLICAS))

    def _in_order(self, means: dict[str, Mean], *, training: bool) -> dict[str, Mean]:
        """Return means in the order of the model; JAX sorts the names."""
        return {name: means[name] for name in self._names[training]}

    def _updated(
        self, values: Arrays, slots: Arrays, fixed: Arrays, features: Features, units: Any
    ) -> tuple[Arrays, Arrays, StepResult]:
        gradients, loss, scale = self._mean_gradient(values, slots, fixed, features, units)
        norm = _global_norm(gradients)
        if self.clip_grad_norm:
            gradients = _clipped(gradients, self.clip_grad_norm * scale, norm)
        # With loss scaling, the optimizer divides the gradients by the scale.
        values, slots = self.optimizer.stateless_apply(slots, gradients, values)
        return (
            list(values),
            list(slots),
            StepResult(loss.objective, loss.means, units[0], norm / scale, scale, 0.0),
        )

    def _norm_of_gradient(
        self, values: Arrays, slots: Arrays, fixed: Arrays, features: Features, units: Any
    ) -> Any:
        return _global_norm(self._mean_gradient(values, slots, fixed, features, units)[0])

    def _reported(self, values: Arrays, fixed: Arrays, features: Features) -> dict[str, Mean]:
        def on_device(replica: Any, values: Arrays, fixed: Arrays, features: Features) -> Any:
            del replica
            own = {name: array[0] for name, array in features.items()}
            return self._stateless_loss(values, fixed, (), own, training=False).means

        return self.strategy.shared_out(on_device, 2)(values, fixed, features)

    def _mean_gradient(
        self, values: Arrays, slots: Arrays, fixed: Arrays, features: Features, units: Any
    ) -> tuple[Arrays, Loss, Any]:
        """Return the gradient of the mean objective, times the loss scale; the loss; the scale."""
        with keras.StatelessScope(state_mapping=list(zip(self.slots, slots, strict=True))):
            scale = loss_scale(self.optimizer)
            step = self.optimizer.iterations.value
        shared_out = self.strategy.shared_out(self._local, 4)
        gradients, loss = shared_out(values, fixed, step, scale / units[1], features)
        return gradients, loss, scale

    def _local(
        self,
        replica: Any,
        values: Arrays,
        fixed: Arrays,
        step: Any,
        factor: Any,
        features: Features,
    ) -> tuple[Arrays, Loss]:
        """Return a device's share of gradient and loss; features are (parts, rows, length)."""

        def part(number: Any, rows: Features) -> tuple[Arrays, Loss]:
            states = seeds(
                self.seed,
                step,
                number * self.replicas + replica,
                shards=self.shards,
                generators=len(self.generators),
            )
            return self._gradient(values, fixed, states, factor, rows)

        def add(sums: Any, numbered: Any) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, sums, part(*numbered)), None

        first = (0, {name: array[0] for name, array in features.items()})
        if self.parts == 1:
            return part(*first)
        # In a loop, only one part at a time is in memory.
        shapes = jax.eval_shape(part, *first)
        zeros = jax.tree.map(lambda each: jnp.zeros(each.shape, each.dtype), shapes)
        return jax.lax.scan(add, zeros, (jnp.arange(self.parts), dict(features)))[0]

    def _gradient(
        self, values: Arrays, fixed: Arrays, states: Arrays, factor: Any, features: Features
    ) -> tuple[Arrays, Loss]:
        def objective(values: Arrays) -> tuple[Any, Loss]:
            loss = self._stateless_loss(values, fixed, states, features, training=True)
            return loss.objective * factor, loss

        gradients, loss = jax.grad(objective, has_aux=True)(values)
        return gradients, loss

    def _stateless_loss(
        self,
        values: Arrays,
        fixed: Arrays,
        states: Sequence[Any],
        features: Features,
        *,
        training: bool,
    ) -> Loss:
        mapping = list(zip(self.trainable, values, strict=True))
        mapping += list(zip(self.fixed, fixed, strict=True))
        mapping += list(zip(self.generators, states, strict=False))
        with keras.StatelessScope(state_mapping=mapping):
            loss = self.model.batch_loss(dict(features), training=training)
        self._names[training] = tuple(loss.means)
        return jax.tree.map(_float32, Loss(loss.objective, dict(loss.means)))


def _values(variables: Sequence[keras.Variable]) -> Arrays:
    return [variable.value for variable in variables]


def _float32(number: Any) -> Any:
    return jnp.asarray(number, jnp.float32)


def _global_norm(arrays: Arrays) -> Any:
    return jnp.sqrt(sum(jnp.sum(jnp.square(array)) for array in arrays))


def _clipped(gradients: Arrays, limit: Any, norm: Any) -> Arrays:
    """Return gradients whose norm is at most the limit; all are NaN if `norm` is not finite."""
    factor = limit * jnp.minimum(1 / norm, 1 / limit) + (norm - norm)
    return [gradient * factor for gradient in gradients]
