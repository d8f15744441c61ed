"""The common part of all engines' updates: their results, their options, their shapes."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import keras
import numpy as np

from t2t_phrase.data.input.share import Share
from t2t_phrase.features import IDS, PAIRS, Feature
from t2t_phrase.models.base import Mean
from t2t_phrase.training.agreement import Agreement

Features = Mapping[str, Any]


class StepResult(NamedTuple):
    """The results of an update over all replicas; scalars, possibly still being computed."""

    objective: Any
    """The sum over target tokens that was minimised."""
    means: dict[str, Mean]
    """The means that the model reports, see `models.base.Loss`."""
    tokens: Any
    """Target tokens."""
    grad_norm: Any
    """The norm of the gradient of the mean objective, before it is clipped."""
    loss_scale: Any
    """The number that the loss was multiplied by; 1 without loss scaling."""
    ready: Any
    """The time when this worker had computed its own part of the gradient, in seconds since 1970;
    0: without other workers."""


class Totals(NamedTuple):
    """Counts over all rows of a batch, of which a worker may have a part only."""

    tokens: int
    """Target tokens."""
    sentences: int
    """Pairs of sentences."""


@dataclasses.dataclass
class BaseStepper:
    """Trains and evaluates a model on batches of any of a fixed set of shapes.

    A subclass for each engine sets `_train` and `_probe`, functions of a batch and its units, and
    `_eval`, a function of a batch.

    A batch is computed in shards of equal size: `parts` on each replica, one after the other. The
    random state of dropout depends only on (seed, step, shard, layer), so that a resumed run draws
    the same numbers as an uninterrupted one, and eight parts on one replica draw the same numbers
    as eight replicas.

    Args:
        strategy: the devices, from `make_strategy`. Model and optimizer were made in its scope,
            and the optimizer was built.
        model: an `EncoderDecoder`; only its `batch_loss` is used.
        optimizer: one of Keras' optimizers. It applies gradients that are already summed over the
            replicas.
        seed: seed of dropout.
        features: features that the model reads besides the token ids of both sides.
        clip_grad_norm: largest norm of the gradient; 0: no limit.
        gradient_mean: "tokens" or "sentences": the objective that is differentiated is the mean
            over those of all replicas.
        parts: number of parts of each replica's share of a batch; their gradients are added up.
        packed: whether the rows of training hold several pairs, see `features.PAIRS`; those of
            evaluation hold one each.
        xla: whether XLA compiles the pure function, once for each shape.
        log: called with a line for each compilation.

    Attributes:
        compilations: number of functions traced, or compiled for a shape, so far.
        compile_seconds: the time that this took, first calls included.
    """

    strategy: Any
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

    agreement: Agreement = dataclasses.field(init=False)
    _train: Callable[[Features, Any], StepResult] = dataclasses.field(init=False, repr=False)
    _eval: Callable[[Features], dict[str, Mean]] = dataclasses.field(init=False, repr=False)
    _probe: Callable[[Features, Any], Any] = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.trainable = list(self.model.trainable_variables)
        self.generators = [
            v for v in self.model.non_trainable_variables if v.name == "seed_generator_state"
        ]
        self.agreement = Agreement()
        self.compilations = 0
        self.compile_seconds = 0.0
        self._shapes: set[tuple[Any, ...]] = set()

    @property
    def _pairs(self) -> tuple[str, ...]:
        """The names of the arrays that number the pairs in packed training batches."""
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
            parts: number of parts of each replica's share: `parts` of this object for batches of
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
                packed. The rows are those of `share(parts)`: without other workers, all rows.
                The number of rows of a batch is a multiple of the number of shards.
            totals: counts over all rows; None: counted here, so `features` must have all rows.
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
        """Return a batch without padding, which takes as much memory as any of its shape.

        Args:
            rows: number of sentence pairs, of which the result has this worker's share.
            source: S, length of the sources.
            target: T, length of the targets.
        """
        rows = self.share(self.parts).rows(rows)
        lengths = {"source": source, "target": target}
        fake = {name: np.ones((rows, lengths[side]), np.int32) for side, name in IDS.items()}
        for feature in self.features:
            # The value at padding is valid for every feature.
            fake[feature.name] = np.full((rows, lengths[feature.side]), feature.pad, np.int32)
        if self.packed:
            fake |= {PAIRS[side]: np.ones((rows, lengths[side]), np.int32) for side in IDS}
        return fake

    def _units(self, features: Features, totals: Totals | None) -> np.ndarray:
        """Return (2,): the target tokens, and the tokens or pairs that the objective averages over.

        Args:
            features: as for `train`.
            totals: as for `train`.
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
        return np.asarray(counts, np.float32)

    def _traces(self, function: Any) -> int:
        """Return the number of traces of a function, not counting compilations by XLA."""
        del function
        return 0

    def _given(self, kind: str, features: Features) -> Any:
        """Return features in the form that the function of a kind takes, see `_counted`."""
        raise NotImplementedError

    def _counted(self, kind: str, function: Any, features: Features, *more: Any) -> Any:
        traces = self._traces(function)
        shape = tuple(features[name].shape for name in IDS.values())
        first_of_shape = self.xla and (kind, shape) not in self._shapes
        self._shapes.add((kind, shape))
        start = time.perf_counter()
        result = function(self._given(kind, features), *more)
        traced = self._traces(function) - traces
        if traced or first_of_shape:
            seconds = time.perf_counter() - start
            self.compile_seconds += seconds
            self.compilations += max(traced, int(first_of_shape))
            sizes = " and ".join(f"{rows} x {length}" for rows, length in dict.fromkeys(shape))
            self.log(
                f"compiled the {kind} step for {sizes} tokens "
                f"in {seconds:.1f} s (compilation {self.compilations})"
                if self.xla
                else f"traced the {kind} step in {seconds:.1f} s"
            )
        return result
