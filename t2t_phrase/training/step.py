"""One update: a pure, compiled forward-and-gradient on each replica, then the optimizer."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from t2t_phrase.training.schedules import FactorSchedule
from t2t_phrase.training_hparams import TrainingHParams

Features = Mapping[str, Any]
_IDS = tf.TensorSpec((None, None), tf.int32)


class StepResult(NamedTuple):
    """Sums over the target tokens of all replicas; scalars, perhaps still being computed."""

    loss: Any
    nll: Any
    correct: Any
    tokens: Any
    grad_norm: Any
    """Of the gradient of the mean loss, before it is clipped."""


def make_optimizer(hparams: TrainingHParams, schedule: FactorSchedule) -> keras.optimizers.Adam:
    """Return tensor2tensor's Adam."""
    return keras.optimizers.Adam(
        learning_rate=schedule,
        beta_1=hparams.optimizer_adam_beta1,
        beta_2=hparams.optimizer_adam_beta2,
        epsilon=hparams.optimizer_adam_epsilon,
        name="adam",
    )


def make_schedule(hparams: Any, *, train_steps: int) -> FactorSchedule:
    """Return the learning rate that `hparams` describe."""
    return FactorSchedule(
        hparams.learning_rate_schedule,
        constant=hparams.learning_rate_constant,
        warmup_steps=hparams.learning_rate_warmup_steps,
        decay_steps=hparams.learning_rate_decay_steps,
        hidden_size=hparams.hidden_size,
        train_steps=train_steps,
    )


@dataclasses.dataclass
class Stepper:
    """Trains and evaluates a model on batches of any of a fixed set of shapes.

    The random state of dropout is a function of (seed, step, replica, layer), nothing else, so
    a run that is resumed draws what the first run would have drawn.

    Args:
        strategy: the devices. Model and optimizer were made in its scope, the optimizer built.
        model: has `loss_sums(features, training)`.
        optimizer: one of Keras'.
        seed: of dropout.
        phrases: whether the model reads the phrases of its inputs.
        clip_grad_norm: largest norm of the gradient; 0: any.
        xla: whether XLA compiles the pure function, once for each shape.
        log: is told of compilations.
    """

    strategy: tf.distribute.Strategy
    model: Any
    optimizer: keras.optimizers.Optimizer
    seed: int
    phrases: bool = False
    clip_grad_norm: float = 0.0
    xla: bool = False
    log: Callable[[str], None] = lambda text: None

    def __post_init__(self) -> None:
        self.trainable = list(self.model.trainable_variables)
        self.generators = [
            v for v in self.model.non_trainable_variables if v.name == "seed_generator_state"
        ]
        self.compilations = 0
        self._shapes: set[tuple[str, tuple[int, ...]]] = set()
        self._gradient = tf.function(self._forward_and_gradient, jit_compile=self.xla or None)
        self._sums = tf.function(self._forward, jit_compile=self.xla or None)
        # One trace for all shapes: with XLA each shape is compiled when it is first met.
        names = ("inputs", "targets", "phrases") if self.phrases else ("inputs", "targets")
        signature = [dict.fromkeys(names, _IDS)]
        self._train = tf.function(self._train_step, input_signature=signature)
        self._eval = tf.function(self._eval_step, input_signature=signature)
        self._probe = tf.function(self._probe_step, input_signature=signature)

    @property
    def replicas(self) -> int:
        """How many devices share a batch."""
        return self.strategy.num_replicas_in_sync

    def train(self, features: Features) -> StepResult:
        """Make one update.

        Args:
            features: "inputs" (rows, S) int32, "targets" (rows, T) int32, and "phrases" (rows, S)
                int32 if the model reads them; rows are a multiple of the number of replicas.
        """
        return self._counted("train", self._train, features)

    def evaluate(self, features: Features) -> dict[str, float]:
        """Return the model's sums on a batch, without dropout."""
        sums = self._counted("evaluation", self._eval, features)
        return {name: float(value) for name, value in sums.items()}

    def probe(self, features: Features) -> None:
        """Compute loss and gradient and forget them: shows that a shape fits in memory."""
        float(self._counted("train", self._probe, features))

    def fake_features(self, rows: int, length: int) -> dict[str, np.ndarray]:
        """Return a batch of nothing but real tokens, each a phrase of its own: as large as any."""
        ids = np.ones((rows, length), np.int32)
        features = {"inputs": ids, "targets": ids}
        if self.phrases:
            features["phrases"] = np.cumsum(ids, axis=1, dtype=np.int32)
        return features

    def _counted(self, kind: str, function: Any, features: Features) -> Any:
        traces = function.experimental_get_tracing_count()
        inputs = features["inputs"]
        shape = (kind, inputs.shape + features["targets"].shape)
        first_of_shape = self.xla and shape not in self._shapes
        self._shapes.add(shape)
        start = time.perf_counter()
        result = function({name: tf.constant(value) for name, value in features.items()})
        traced = function.experimental_get_tracing_count() - traces
        if traced or first_of_shape:
            self.compilations += max(traced, int(first_of_shape))
            self.log(
                f"compiled the {kind} step for {inputs.shape[0]} x {inputs.shape[1]} tokens "
                f"in {time.perf_counter() - start:.1f} s (compilation {self.compilations})"
                if self.xla
                else f"traced the {kind} step in {time.perf_counter() - start:.1f} s"
            )
        return result

    def _train_step(self, features: Features) -> StepResult:
        def replica(features: Features) -> StepResult:
            context = tf.distribute.get_replica_context()
            gradients, sums = self._local(context, features)
            sums = context.all_reduce(tf.distribute.ReduceOp.SUM, sums)
            if self.replicas > 1:
                gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
            norm = tf.linalg.global_norm(gradients)
            if self.clip_grad_norm:
                gradients, _ = tf.clip_by_global_norm(gradients, self.clip_grad_norm, norm)
            # Keras sums over the replicas once more.
            if self.replicas > 1:
                gradients = [gradient / self.replicas for gradient in gradients]
            self.optimizer.apply(gradients, self.trainable)
            return StepResult(
                sums["loss"], sums["nll"], sums["correct"], sums["tokens"], grad_norm=norm
            )

        return self._first(self.strategy.run(replica, args=(features,)))

    def _eval_step(self, features: Features) -> dict[str, Any]:
        def replica(features: Features) -> dict[str, Any]:
            context = tf.distribute.get_replica_context()
            sums = self._sums(self._values(), self._own_rows(context, features))
            return context.all_reduce(tf.distribute.ReduceOp.SUM, sums)

        return self._first(self.strategy.run(replica, args=(features,)))

    def _probe_step(self, features: Features) -> Any:
        def replica(features: Features) -> Any:
            context = tf.distribute.get_replica_context()
            return tf.linalg.global_norm(self._local(context, features)[0])

        return self._first(self.strategy.run(replica, args=(features,)))

    def _local(self, context: Any, features: Features) -> tuple[list[Any], dict[str, Any]]:
        """Return this replica's share of the mean loss's gradients, and its sums."""
        own = self._own_rows(context, features)
        replica = tf.cast(context.replica_id_in_sync_group, tf.int64)
        # Scaling the loss costs nothing; scaling the gradients would be a pass over all of them.
        scale = 1.0 / tf.cast(tf.math.count_nonzero(features["targets"]), tf.float32)
        return self._gradient(self._values(), self._seeds(replica), scale, own)

    def _own_rows(self, context: Any, features: Features) -> dict[str, Any]:
        rows = tf.shape(features["inputs"])[0] // self.replicas
        start = context.replica_id_in_sync_group * rows
        return {name: value[start : start + rows] for name, value in features.items()}

    def _values(self) -> list[Any]:
        return [tf.convert_to_tensor(variable.value) for variable in self.trainable]

    def _seeds(self, replica: Any) -> list[Any]:
        """Return a state (2,) int64 for every generator of the model; draws count up its end."""
        step = tf.cast(self.optimizer.iterations.value, tf.int64)
        # Far apart, so that the draws of one layer in one step never reach the next one's.
        place = (step * self.replicas + replica) * max(1, len(self.generators))
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
    ) -> tuple[list[Any], dict[str, Any]]:
        with tf.GradientTape() as tape:
            tape.watch(values)
            sums = self._loss_sums(values, seeds, features, training=True)
            loss = sums["loss"] * scale
        gradients = tape.gradient(
            loss, list(values), unconnected_gradients=tf.UnconnectedGradients.ZERO
        )
        return [tf.convert_to_tensor(gradient) for gradient in gradients], sums

    def _forward(self, values: Sequence[Any], features: Features) -> dict[str, Any]:
        return self._loss_sums(values, (), features, training=False)

    def _loss_sums(
        self,
        values: Sequence[Any],
        seeds: Sequence[Any],
        features: Features,
        *,
        training: bool,
    ) -> dict[str, Any]:
        mapping = list(zip(self.trainable, values, strict=True))
        mapping += list(zip(self.generators, seeds, strict=False))
        with keras.StatelessScope(state_mapping=mapping):
            found = self.model.batch_loss(dict(features), training=training)
            return {
                "loss": found.objective,
                "nll": found.means["nll"].total,
                "correct": found.means["accuracy"].total,
                "tokens": found.means["loss"].count,
            }

    def _first(self, values: Any) -> Any:
        # All replicas hold the same sums.
        return tf.nest.map_structure(
            lambda value: self.strategy.experimental_local_results(value)[0], values
        )
