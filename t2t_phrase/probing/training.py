"""Training of a probe until accuracy on the development split no longer improves."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.probing.classes import NONE
from t2t_phrase.probing.corpus import Split
from t2t_phrase.probing.examples import Examples, ProbeBatch
from t2t_phrase.probing.networks import Network

# Maximum and minimum seconds between two lines about progress.
_PERIOD, _PAUSE = 10.0, 2.0


class Recipe(NamedTuple):
    """The training of a probe with Adam.

    Attributes:
        rate: the learning rate.
        warmup: number of updates during which the learning rate rises to `rate`.
        batch_size: number of sentences of a batch.
        max_epochs: maximum number of epochs.
        patience: epochs without improvement after which training stops.
    """

    rate: float
    warmup: int
    batch_size: int
    max_epochs: int
    patience: int


class Fitted(NamedTuple):
    """A trained probe.

    Attributes:
        dev: accuracy of the best epoch on the development split.
        epoch: the best epoch, from 1.
        steps: number of updates until the end.
        predictions: for each sentence of the test split, the predicted class of each label that is
            not NONE.
    """

    dev: float
    epoch: int
    steps: int
    predictions: list[np.ndarray]


class _Score(NamedTuple):
    accuracy: float
    # Negative: the higher, the better.
    likelihood: float


def fit(
    network: Network,
    examples: dict[Split, Examples],
    recipe: Recipe,
    *,
    seed: int,
    log: Callable[[str], object],
) -> Fitted:
    """Train a network, and leave it with the weights of its best epoch.

    The best epoch has the highest accuracy on the development split, and among equals, the highest
    likelihood of the right labels.

    Args:
        network: network with its initial weights.
        examples: examples of the three splits.
        recipe: the training.
        seed: seed of the batch order.
        log: receives messages about progress.
    """
    trainer = _Trainer(network, recipe, examples["train"])
    rng = np.random.default_rng(seed)
    watch = _Watch(recipe.max_epochs * examples["train"].count(recipe.batch_size), log)
    best, best_epoch, weights = _Score(-1.0, 0.0), 0, trainer.weights()
    for epoch in range(1, recipe.max_epochs + 1):
        for batch in examples["train"].batches(recipe.batch_size, rng):
            loss = trainer.update(batch)
            watch.tick(epoch, loss)
        score = trainer.score(examples["dev"])
        if score > best:
            best, best_epoch, weights = score, epoch, trainer.weights()
        watch.end_epoch(
            epoch, f"dev {score.accuracy:.2%}, best {best.accuracy:.2%} (epoch {best_epoch})"
        )
        if epoch - best_epoch >= recipe.patience:
            break
    log(f"stopped at epoch {epoch}, step {watch.steps}: best dev {best.accuracy:.2%}")
    trainer.restore(weights)
    found = trainer.predict(examples["test"])
    return Fitted(best.accuracy, best_epoch, watch.steps, found)


class _Trainer:
    """Compiled updates and measures of a network."""

    def __init__(self, network: Network, recipe: Recipe, examples: Examples) -> None:
        self._network, self._recipe, self._steps = network, recipe, 0
        first = next(iter(examples.batches(recipe.batch_size)))
        self._variables = self._used(first)
        self._optimizer = keras.optimizers.Adam(recipe.rate)
        self._optimizer.build(self._variables)
        features = {name: _any_length(array) for name, array in first.features.items()}
        labelled = [features, _any_length(first.labels)]
        self._update = traced(self._one_update, input_signature=labelled)
        self._measure = traced(self._sums, input_signature=labelled)
        self._classes = traced(self._best, input_signature=[features])

    def _used(self, batch: ProbeBatch) -> list[keras.Variable]:
        """Return the variables that the logits depend on, without those of a decoder."""
        with tf.GradientTape() as tape:
            loss = self._loss(batch.features, batch.labels)
        # Layers create their weights when they are first called.
        variables = self._network.trainable_variables
        gradients = tape.gradient(loss, [variable.value for variable in variables])
        return [v for v, gradient in zip(variables, gradients, strict=True) if gradient is not None]

    def update(self, batch: ProbeBatch) -> float:
        """Make one update; return the mean loss of the batch."""
        recipe = self._recipe
        self._steps += 1
        share = min(1.0, self._steps / recipe.warmup) if recipe.warmup else 1.0
        self._optimizer.learning_rate.assign(recipe.rate * share)
        return float(self._update(batch.features, batch.labels))

    def score(self, examples: Examples) -> _Score:
        """Return accuracy and log-likelihood of all labels."""
        totals = np.zeros(4)
        for batch in examples.batches(self._recipe.batch_size):
            totals += [float(part) for part in self._measure(batch.features, batch.labels)]
        right, count, likelihood, known = totals.tolist()
        return _Score(right / count, likelihood / max(known, 1.0))

    def predict(self, examples: Examples) -> list[np.ndarray]:
        """Return, for each sentence, the predicted class of each label that is not NONE."""
        found: dict[int, list[int]] = {}
        for batch in examples.batches(self._recipe.batch_size):
            there = batch.labels != NONE
            numbers = np.asarray(self._classes(batch.features))[there]
            for sentence, number in zip(batch.sentences[there].tolist(), numbers, strict=True):
                found.setdefault(sentence, []).append(int(number))
        return [np.array(found.get(i, []), "int32") for i in range(examples.size)]

    def weights(self) -> list[np.ndarray]:
        """Return copies of the weights."""
        return [np.array(variable) for variable in self._variables]

    def restore(self, weights: list[np.ndarray]) -> None:
        """Set the weights."""
        for variable, value in zip(self._variables, weights, strict=True):
            variable.assign(value)

    def _one_update(self, features: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = self._loss(features, labels, training=True)
        gradients = tape.gradient(loss, [variable.value for variable in self._variables])
        dense = [tf.convert_to_tensor(gradient) for gradient in gradients]
        self._optimizer.apply(dense, self._variables)
        return loss

    def _best(self, features: Any) -> Any:
        logits = tf.cast(self._network.logits(features, False), tf.float32)
        return tf.argmax(logits, axis=-1, output_type=tf.int32)

    def _loss(self, features: Any, labels: Any, training: bool = False) -> Any:
        _, _, likelihood, known = self._sums(features, labels, training)
        return -likelihood / tf.maximum(known, 1.0)

    def _sums(self, features: Any, labels: Any, training: bool = False) -> Any:
        """Return sums over labels: right, all, log-likelihood, and those of known classes."""
        logits = tf.cast(self._network.logits(features, training), tf.float32)
        classes = logits.shape[-1]
        there = tf.not_equal(labels, NONE)
        known = tf.logical_and(there, labels < classes)
        right = tf.equal(tf.argmax(logits, axis=-1, output_type=tf.int32), labels)
        nll = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.where(known, labels, 0), logits=logits
        )
        zero = tf.zeros_like(nll)
        return (
            tf.reduce_sum(tf.cast(tf.logical_and(right, there), tf.float32)),
            tf.reduce_sum(tf.cast(there, tf.float32)),
            -tf.reduce_sum(tf.where(known, nll, zero)),
            tf.reduce_sum(tf.cast(known, tf.float32)),
        )


def _any_length(array: np.ndarray) -> Any:
    """Return the type of arrays with any number of rows and, for integers, of any length."""
    # The width of vectors is that of the weights.
    known = array.shape[1:] if array.dtype.kind == "f" else (None,) * (array.ndim - 1)
    return tf.TensorSpec((None, *known), array.dtype)


class _Watch:
    """Reports progress within long epochs and after those that are not too short."""

    def __init__(self, most: int, log: Callable[[str], object]) -> None:
        self.steps, self._most, self._log = 0, most, log
        self._begin = self._last = time.monotonic()
        self._losses: list[float] = []

    def tick(self, epoch: int, loss: float) -> None:
        """Count an update; report progress if it is due."""
        self.steps += 1
        self._losses.append(loss)
        if time.monotonic() - self._last >= _PERIOD:
            self._report(epoch)

    def end_epoch(self, epoch: int, score: str) -> None:
        """Report the scores of an epoch, unless the last report was just made."""
        if time.monotonic() - self._last >= _PAUSE:
            self._report(epoch, score)
        self._losses = []

    def _report(self, epoch: int, score: str = "") -> None:
        self._last = time.monotonic()
        seconds = (self._last - self._begin) / max(1, self.steps) * (self._most - self.steps)
        left = f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
        loss = np.mean(self._losses)
        parts = [f"epoch {epoch}", f"step {self.steps}", f"loss {loss:.4f}"]
        self._log(", ".join([*parts, *filter(None, [score]), f"at most {left} left"]))
