"""One update: a pure, compiled forward-and-gradient on each replica, then the optimizer."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.data.input.share import Share
from t2t_phrase.features import IDS, PAIRS, Feature
from t2t_phrase.models.base import Loss, Mean
from t2t_phrase.training.agreement import Agreement
from t2t_phrase.training.loss_scaling import inner_optimizer, loss_scale

Features = Mapping[str, Any]
_IDS = tf.TensorSpec((None, None), tf.int32)
# Gradients are summed over the workers in packs of about so many bytes, those that are computed
# first in the first pack, so that its sum is under way while others are computed. See
# `benchmarks/all_reduce.py`.
PACK = 2**25


class StepResult(NamedTuple):
    """The results of an update over all replicas; scalars, possibly still being computed."""

    objective: Any
    """The sum over target tokens that was minimised."""
    means: dict[str, Mean]
    """What the model reports, see `models.base.Loss`."""
    tokens: Any
    """Target tokens."""
    grad_norm: Any
    """The norm of the gradient of the mean objective, before it is clipped."""
    loss_scale: Any
    """The number that the loss was multiplied by; 1 without loss scaling."""
    ready: Any
    """When this worker had its own part of the gradient, in seconds since 1970."""


class Totals(NamedTuple):
    """Counts over all rows of a batch, of which a worker may have a part only."""

    tokens: int
    """Target tokens."""
    sentences: int
    """Pairs of sentences."""


@dataclasses.dataclass
class Stepper:
    """Trains and evaluates a model on batches of any of a fixed set of shapes.

    A batch is computed in shards of as many rows each: `parts` on each replica, one after the
    other. The random state of dropout is a function of (seed, step, shard, layer) and of nothing
    else, so that a resumed run draws what an uninterrupted one would have drawn, and eight parts
    on one replica what eight replicas draw.

    Args:
        strategy: the devices. Model and optimizer were made in its scope, and the optimizer was
            built.
        model: an `EncoderDecoder`; only its `batch_loss` is used.
        optimizer: one of Keras' optimizers. It applies gradients that are summed over the replicas
            already.
        seed: seed of dropout.
        features: what the model reads besides the token ids of both sides.
        clip_grad_norm: largest norm of the gradient; 0: no limit.
        gradient_mean: "tokens" or "sentences", over which of all replicas the objective that is
            differentiated is a mean.
        parts: what each replica divides its share of a batch into; their gradients are added up.
        packed: whether the rows of training hold several pairs, see `features.PAIRS`; those of
            evaluation hold one each.
        xla: whether XLA compiles the pure function, once for each shape.
        log: called with a line for each compilation.
        pack: bytes that are summed over the workers at a time; 0: all at once.
    """

    strategy: tf.distribute.Strategy
    model: Any
    optimizer: keras.optimizers.Optimizer
    seed: int
    features: tuple[Feature, ...] = ()
    clip_grad_norm: float = 0.0
    gradient_mean: str = "tokens"
    parts: int = 1
    packed: bool = False
    xla: bool = False
    log: Callable[[str], None] = lambda text: None
    pack: int = PACK

    def __post_init__(self) -> None:
        self.trainable = list(self.model.trainable_variables)
        self.generators = [
            v for v in self.model.non_trainable_variables if v.name == "seed_generator_state"
        ]
        self.agreement = Agreement(self.strategy)
        self.compilations = 0
        self._shapes: set[tuple[Any, ...]] = set()
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

    @property
    def _pairs(self) -> tuple[str, ...]:
        """The names of the numbers of pairs that batches of training hold."""
        return tuple(PAIRS.values()) if self.packed else ()

    @property
    def replicas(self) -> int:
        """The number of devices that share a batch."""
        return self.strategy.num_replicas_in_sync

    @property
    def shards(self) -> int:
        """The number of equal parts that a batch of training is computed in."""
        return self.replicas * self.parts

    def share(self, parts: int = 1) -> Share:
        """Return the rows of each batch that this worker computes.

        Args:
            parts: what each replica divides its share into: `parts` of this object for batches of
                training, 1 for those of evaluation.
        """
        agreement = self.agreement
        return Share.of(
            worker=agreement.worker,
            workers=agreement.workers,
            replicas=self.replicas,
            parts=parts,
        )

    def train(self, features: Features, totals: Totals | None = None) -> StepResult:
        """Make one update.

        Args:
            features: "inputs" (rows, S) int32, "targets" (rows, T) int32, and each of `features`,
                int32 of the shape of its side's ids; likewise the numbers of pairs if rows are
                packed. They are the rows of `share(parts)`; without other workers, these are all.
                The number of rows of a batch is a multiple of the number of shards.
            totals: of all rows; None: as counted here, so that `features` must have all of them.
        """
        return self._counted("train", self._train, features, self._units(features, totals))

    def evaluate(self, features: Features) -> dict[str, Mean]:
        """Return the model's metrics on a batch, as numbers, without dropout."""
        means = self._counted("evaluation", self._eval, features)
        return {name: Mean(float(mean.total), float(mean.count)) for name, mean in means.items()}

    def probe(self, features: Features) -> None:
        """Compute loss and gradient and drop them, to show that a shape fits in memory."""
        float(self._counted("train", self._probe, features, self._units(features, None)))

    def fake_features(self, rows: int, source: int, target: int) -> dict[str, np.ndarray]:
        """Return a batch of real tokens, which takes as much memory as any of its shape.

        Args:
            rows: number of sentence pairs, of which the result has this worker's share.
            source: S, length of the sources.
            target: T, length of the targets.
        """
        rows = self.share(self.parts).rows(rows)
        lengths = {"source": source, "target": target}
        fake = {name: np.ones((rows, lengths[side]), np.int32) for side, name in IDS.items()}
        for feature in self.features:
            # The value at padding is the one that is valid for every feature.
            fake[feature.name] = np.full((rows, lengths[feature.side]), feature.pad, np.int32)
        if self.packed:
            fake |= {PAIRS[side]: np.ones((rows, lengths[side]), np.int32) for side in IDS}
        return fake

    def _counted(self, kind: str, function: Any, features: Features, *more: Any) -> Any:
        traces = function.experimental_get_tracing_count()
        shape = tuple(features[name].shape for name in IDS.values())
        first_of_shape = self.xla and (kind, shape) not in self._shapes
        self._shapes.add((kind, shape))
        start = time.perf_counter()
        result = function({name: tf.constant(value) for name, value in features.items()}, *more)
        traced = function.experimental_get_tracing_count() - traces
        if traced or first_of_shape:
            self.compilations += max(traced, int(first_of_shape))
            sizes = " and ".join(f"{rows} x {length}" for rows, length in dict.fromkeys(shape))
            self.log(
                f"compiled the {kind} step for {sizes} tokens "
                f"in {time.perf_counter() - start:.1f} s (compilation {self.compilations})"
                if self.xla
                else f"traced the {kind} step in {time.perf_counter() - start:.1f} s"
            )
        return result

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
            # With loss scaling, it divides them by the scale.
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
            # Scaling the loss costs nothing; scaling the gradients would be a pass over all.
            return self._gradient(
                values, self._seeds(number * self.replicas + replica), scale, rows
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
        for gradient, value in zip(sums[0], values, strict=True):
            # That of an embedding is not known to have it; TensorFlow would not make packs then.
            gradient.set_shape(value.shape)
        return sums

    def _units(self, features: Features, totals: Totals | None) -> Any:
        """Return (2,): the target tokens, and what the objective is a mean over: these, or pairs.

        Args:
            features: as for `train`.
            totals: likewise.
        """
        if totals is None:
            targets = np.asarray(features["targets"])
            pairs = np.count_nonzero(targets.any(axis=1))
            if self.packed:
                # The number of the last pair of each row.
                pairs = np.asarray(features[PAIRS["target"]]).max(axis=1).sum()
            totals = Totals(int(np.count_nonzero(targets)), int(pairs))
        by_sentence = self.gradient_mean == "sentences"
        counts = totals.tokens, totals.sentences if by_sentence else totals.tokens
        return tf.constant(np.asarray(counts, np.float32))

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


def _when_computed(gradients: Sequence[Any]) -> Any:
    """Return the time when the last of the gradients is there."""
    with tf.device("CPU:0"):
        # The copy of a number waits until the gradient that comes last is computed.
        last = tf.identity(tf.reshape(gradients[0], [-1])[0])
        with tf.control_dependencies([last]):
            return tf.timestamp()
