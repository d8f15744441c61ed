"""One update with TensorFlow: pure, compiled loss and gradient per replica, then the optimizer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.features import IDS
from t2t_phrase.models.base import Loss, Mean
from t2t_phrase.training.loss_scaling import inner_optimizer, loss_scale
from t2t_phrase.training.stepper import BaseStepper, Features, StepResult
from t2t_phrase.training.worker_agreement import agreement_of

_IDS = tf.TensorSpec((None, None), tf.int32)
# Gradients are summed over the workers in packs of about this many bytes. The first pack has the
# gradients computed first, so that it is summed while the others are computed. See
# `benchmarks/all_reduce.py`.
PACK = 2**25


@dataclasses.dataclass
class Stepper(BaseStepper):
    """Trains and evaluates a model with TensorFlow, on the devices of a `tf.distribute.Strategy`.

    Arguments are those of `BaseStepper`, and:

    Args:
        pack: bytes that are summed over the workers at a time; 0: all at once.
    """

    pack: int = PACK

    def __post_init__(self) -> None:
        super().__post_init__()
        self.agreement = agreement_of(self.strategy)
        self._gradient = traced(self._forward_and_gradient, jit_compile=self.xla or None)
        self._loss = traced(self._forward, jit_compile=self.xla or None)
        # One trace for all shapes: with XLA each shape is compiled when it is first met.
        names = (*IDS.values(), *(feature.name for feature in self.features))
        evaluated = [dict.fromkeys(names, _IDS)]
        trained = [dict.fromkeys((*names, *self._pairs), _IDS), tf.TensorSpec((2,), tf.float32)]
        self._train = traced(self._train_step, input_signature=trained)
        self._eval = traced(self._eval_step, input_signature=evaluated)
        self._probe = traced(self._probe_step, input_signature=trained)
        # Keras would sum the gradients over the replicas once more.
        inner_optimizer(self.optimizer)._all_reduce_sum_gradients = list

    def _traces(self, function: Any) -> int:
        return function.experimental_get_tracing_count()

    def _given(self, kind: str, features: Features) -> Any:
        del kind
        return {name: tf.constant(value) for name, value in features.items()}

    def _train_step(self, features: Features, units: Any) -> StepResult:
        def replica(features: Features, units: Any) -> StepResult:
            context = tf.distribute.get_replica_context()
            scale = loss_scale(self.optimizer)
            local = self._local(context, features, scale / units[1])
            ready = _when_computed(local[0]) if self.agreement.workers > 1 else 0.0
            gradients, loss = self._sum(context, local)
            norm = tf.linalg.global_norm(gradients)
            if self.clip_grad_norm:
                limit = self.clip_grad_norm * scale
                gradients, _ = tf.clip_by_global_norm(gradients, limit, norm)
            # With loss scaling, the optimizer divides the gradients by the scale.
            self.optimizer.apply(gradients, self.trainable)
            return StepResult(loss.objective, loss.means, units[0], norm / scale, scale, ready)

        return self._first(self.strategy.run(replica, args=(features, units)))

    def _eval_step(self, features: Features) -> dict[str, Mean]:
        def replica(features: Features) -> dict[str, Mean]:
            context = tf.distribute.get_replica_context()
            here = self.replicas // self.agreement.workers
            rows = _rows(features, context.replica_id_in_sync_group % here, here)
            loss = self._loss(self._values(), rows)
            return self._sum(context, loss.means)

        return self._first(self.strategy.run(replica, args=(features,)))

    def _probe_step(self, features: Features, units: Any) -> Any:
        def replica(features: Features, units: Any) -> Any:
            context = tf.distribute.get_replica_context()
            scale = loss_scale(self.optimizer) / units[1]
            return tf.linalg.global_norm(self._local(context, features, scale)[0])

        return self._first(self.strategy.run(replica, args=(features, units)))

    def _local(self, context: Any, features: Features, scale: Any) -> tuple[list[Any], Loss]:
        """Return this replica's share of the gradient of the objective, and its loss.

        The gradient is multiplied by `scale`, a scalar.
        """
        here = self.replicas // self.agreement.workers
        replica = tf.cast(context.replica_id_in_sync_group, tf.int32)
        values = self._values()

        def part(number: Any) -> Any:
            rows = _rows(features, number * here + replica % here, self.parts * here)
            # Scaling the loss costs nothing; scaling the gradients would be a pass over them all.
            return self._gradient(
                values, self._seeds(number * self.replicas + replica), scale, rows
            )

        sums = part(0)
        if self.parts > 1:
            # In a loop, only one part at a time is in memory; unrolled parts may overlap.
            _, sums = tf.while_loop(
                lambda number, sums: number < self.parts,
                lambda number, sums: (
                    number + 1,
                    tf.nest.map_structure(tf.add, sums, part(number)),
                ),
                (tf.constant(1), sums),
                parallel_iterations=1,
            )
        for gradient, value in zip(sums[0], values, strict=True):
            # The gradient of an embedding has no static shape, without which there are no packs.
            gradient.set_shape(value.shape)
        return sums

    def _sum(self, context: Any, values: Any) -> Any:
        """Return the sums over all replicas."""
        if self.replicas == 1:
            return values
        options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack=self.pack)
        return context.all_reduce(tf.distribute.ReduceOp.SUM, values, options)

    def _values(self) -> list[Any]:
        return [tf.convert_to_tensor(variable.value) for variable in self.trainable]

    def _seeds(self, shard: Any) -> list[Any]:
        """Return a state (2,) int64 for every generator; each draw adds to its second number."""
        step = tf.cast(self.optimizer.iterations.value, tf.int64)
        # Far apart, so that the draws of one layer in one step do not overlap any others.
        place = (step * self.shards + tf.cast(shard, tf.int64)) * max(1, len(self.generators))
        return [
            tf.stack([tf.constant(self.seed, tf.int64), (place + index) * 1024])
            for index in range(len(self.generators))
        ]

    def _forward_and_gradient(
        self,
        values: Sequence[Any],
        seeds: Sequence[Any],
        scale: Any,
        features: Features,
    ) -> tuple[list[Any], Loss]:
        with tf.GradientTape() as tape:
            tape.watch(values)
            loss = self._stateless_loss(values, seeds, features, training=True)
            objective = loss.objective * scale
        gradients = tape.gradient(
            objective, list(values), unconnected_gradients=tf.UnconnectedGradients.ZERO
        )
        return [tf.convert_to_tensor(gradient) for gradient in gradients], loss

    def _forward(self, values: Sequence[Any], features: Features) -> Loss:
        return self._stateless_loss(values, (), features, training=False)

    def _stateless_loss(
        self,
        values: Sequence[Any],
        seeds: Sequence[Any],
        features: Features,
        *,
        training: bool,
    ) -> Loss:
        mapping = list(zip(self.trainable, values, strict=True))
        mapping += list(zip(self.generators, seeds, strict=False))
        with keras.StatelessScope(state_mapping=mapping):
            return self.model.batch_loss(dict(features), training=training)

    def _first(self, values: Any) -> Any:
        # All replicas hold the same sums.
        return tf.nest.map_structure(
            lambda value: self.strategy.experimental_local_results(value)[0], values
        )


def _rows(features: Features, shard: Any, shards: int) -> dict[str, Any]:
    """Return the rows of one of the shards of a batch."""
    rows = tf.shape(features["inputs"])[0] // shards
    start = shard * rows
    return {name: value[start : start + rows] for name, value in features.items()}


def _when_computed(gradients: Sequence[Any]) -> Any:
    """Return the time at which the last of the gradients is computed."""
    with tf.device("CPU:0"):
        # The first variable's gradient is computed last; the copy of one number waits for it.
        last = tf.identity(tf.reshape(gradients[0], [-1])[0])
        with tf.control_dependencies([last]):
            return tf.timestamp()
