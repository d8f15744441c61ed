"""One update with TensorFlow: a pure, compiled forward-and-gradient on each replica, then the
optimizer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.features import IDS, PAIRS
from t2t_phrase.models.base import Loss, Mean
from t2t_phrase.training.loss_scaling import inner_optimizer, loss_scale
from t2t_phrase.training.stepper import BaseStepper, Features, StepResult
from t2t_phrase.training.worker_agreement import WorkerAgreement

_IDS = tf.TensorSpec((None, None), tf.int32)


@dataclasses.dataclass
class Stepper(BaseStepper):
    """Trains and evaluates a model with TensorFlow, on the devices of a `tf.distribute.Strategy`.

    Arguments are those of `BaseStepper`.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.agreement = WorkerAgreement(self.strategy)
        self._gradient = traced(self._forward_and_gradient, jit_compile=self.xla or None)
        self._loss = traced(self._forward, jit_compile=self.xla or None)
        # One trace for all shapes: with XLA each shape is compiled when it is first met.
        names = (*IDS.values(), *(feature.name for feature in self.features))
        evaluated = [dict.fromkeys(names, _IDS)]
        trained = [dict.fromkeys((*names, *self._pairs), _IDS)]
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

    def _train_step(self, features: Features) -> StepResult:
        tokens = tf.cast(tf.math.count_nonzero(features["targets"]), tf.float32)

        def replica(features: Features) -> StepResult:
            context = tf.distribute.get_replica_context()
            scale = loss_scale(self.optimizer)
            gradients, loss = self._sum(context, self._local(context, features, scale))
            norm = tf.linalg.global_norm(gradients)
            if self.clip_grad_norm:
                limit = self.clip_grad_norm * scale
                gradients, _ = tf.clip_by_global_norm(gradients, limit, norm)
            # With loss scaling, it divides them by the scale.
            self.optimizer.apply(gradients, self.trainable)
            return StepResult(loss.objective, loss.means, tokens, norm / scale, scale)

        return self._first(self.strategy.run(replica, args=(features,)))

    def _eval_step(self, features: Features) -> dict[str, Mean]:
        def replica(features: Features) -> dict[str, Mean]:
            context = tf.distribute.get_replica_context()
            replica = context.replica_id_in_sync_group
            loss = self._loss(self._values(), _rows(features, replica, self.replicas))
            return self._sum(context, loss.means)

        return self._first(self.strategy.run(replica, args=(features,)))

    def _probe_step(self, features: Features) -> Any:
        def replica(features: Features) -> Any:
            context = tf.distribute.get_replica_context()
            scale = loss_scale(self.optimizer)
            return tf.linalg.global_norm(self._local(context, features, scale)[0])

        return self._first(self.strategy.run(replica, args=(features,)))

    def _local(self, context: Any, features: Features, scale: Any) -> tuple[list[Any], Loss]:
        """Return this replica's share of the gradient of the mean objective, and its loss.

        The gradient is multiplied by `scale`, a scalar.
        """
        # The features of a step are those of all shards.
        count = self._units(features)
        replica = tf.cast(context.replica_id_in_sync_group, tf.int32)
        values = self._values()

        def part(number: Any) -> Any:
            shard = number * self.replicas + replica
            # Scaling the loss costs nothing; scaling the gradients would be a pass over all.
            return self._gradient(
                values, self._seeds(shard), scale / count, _rows(features, shard, self.shards)
            )

        sums = part(0)
        if self.parts > 1:
            # In a loop one part at a time is in memory; parts that are written out may overlap.
            _, sums = tf.while_loop(
                lambda number, sums: number < self.parts,
                lambda number, sums: (
                    number + 1,
                    tf.nest.map_structure(tf.add, sums, part(number)),
                ),
                (tf.constant(1), sums),
                parallel_iterations=1,
            )
        return sums

    def _units(self, features: Features) -> Any:
        """Return the number of tokens or sentences that the objective is a mean over."""
        if self.gradient_mean == "sentences" and self.packed:
            # The number of the last pair of each row.
            pairs = tf.reduce_max(features[PAIRS["target"]], axis=1)
            return tf.cast(tf.reduce_sum(pairs), tf.float32)
        units = tf.math.not_equal(features["targets"], 0)
        if self.gradient_mean == "sentences":
            units = tf.reduce_any(units, axis=1)
        return tf.cast(tf.math.count_nonzero(units), tf.float32)

    def _sum(self, context: Any, values: Any) -> Any:
        """Return the sums over all replicas, in one reduction."""
        if self.replicas == 1:
            return values
        return context.all_reduce(tf.distribute.ReduceOp.SUM, values)

    def _values(self) -> list[Any]:
        return [tf.convert_to_tensor(variable.value) for variable in self.trainable]

    def _seeds(self, shard: Any) -> list[Any]:
        """Return a state (2,) int64 for every generator; each draw adds to its second number."""
        step = tf.cast(self.optimizer.iterations.value, tf.int64)
        # Far apart, so that the draws of one layer in one step do not overlap the next one's.
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
    """Return the rows of one of several shards that a batch consists of."""
    rows = tf.shape(features["inputs"])[0] // shards
    start = shard * rows
    return {name: value[start : start + rows] for name, value in features.items()}
