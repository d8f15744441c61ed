"""Batches for training and measuring a probe: vectors of frozen states, or sentences.

All batches hold the examples of about the same number of sentences. Few shapes occur.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from t2t_phrase.decoding.batches import LENGTH_STEP, Batch
from t2t_phrase.probing.classes import NONE
from t2t_phrase.probing.inputs import EncoderInputs

# The number of vectors of a batch is a multiple of this.
_VECTOR_STEP = 1024


class ProbeBatch(NamedTuple):
    """The inputs of a network, and its labels.

    Attributes:
        features: arrays by name.
        labels: the numbers of the classes, NONE where there is no label.
        sentences: the number of each label's sentence, in the shape of the labels.
    """

    features: dict[str, np.ndarray]
    labels: np.ndarray
    sentences: np.ndarray


class Examples(Protocol):
    """The examples of a task and split."""

    @property
    def size(self) -> int:
        """The number of sentences."""

    def batches(self, size: int, rng: np.random.Generator | None = None) -> Iterator[ProbeBatch]:
        """Yield all examples, in an order drawn by `rng` if it is given.

        Args:
            size: number of sentences of a batch.
            rng: draws the order.
        """

    def count(self, size: int) -> int:
        """Return the number of batches."""


@dataclasses.dataclass(frozen=True)
class VectorExamples:
    """Vectors with labels.

    Attributes:
        vectors: for each sentence (n, D), its own vector (n = 1) or those of its words.
        labels: for each sentence (n,).
    """

    vectors: Sequence[np.ndarray]
    labels: Sequence[np.ndarray]

    def batches(self, size: int, rng: np.random.Generator | None = None) -> Iterator[ProbeBatch]:
        """Yield {"vectors": (n, D)} with labels (n,)."""
        order = _order(len(self.vectors), rng)
        for chosen in np.array_split(order, self.count(size)):
            vectors = np.concatenate([self.vectors[i] for i in chosen])
            labels = np.concatenate([self.labels[i] for i in chosen])
            of_words = len(labels) > len(chosen)
            padding = -len(labels) % _VECTOR_STEP if of_words else size - len(labels)
            yield ProbeBatch(
                {"vectors": np.pad(vectors, [(0, padding), (0, 0)])},
                np.pad(labels, (0, padding), constant_values=NONE),
                np.pad(np.repeat(chosen, [len(self.labels[i]) for i in chosen]), (0, padding)),
            )

    @property
    def size(self) -> int:
        """The number of sentences."""
        return len(self.vectors)

    def count(self, size: int) -> int:
        """Return the number of batches."""
        return -(-self.size // size)


@dataclasses.dataclass(frozen=True)
class SentenceExamples:
    """Sentences with labels, for a network that contains the encoder.

    Attributes:
        inputs: the sentences.
        labels: for each sentence (1,), or one for each word.
        of_words: whether words have labels.
    """

    inputs: EncoderInputs
    labels: Sequence[np.ndarray]
    of_words: bool

    def batches(self, size: int, rng: np.random.Generator | None = None) -> Iterator[ProbeBatch]:
        """Yield ids, features, "words" and "ends", each (B, S), with labels (B, S) or (B,).

        Sentences of similar length are batched together; the order of the batches is drawn, too.
        """
        lengths = np.array(
            [max(map(len, pair)) for pair in zip(self.inputs.side.ids, self.inputs.words)]  # noqa: B905
        )
        steps = -(-lengths // LENGTH_STEP)
        order = _order(len(lengths), rng)
        # Stable, so that sentences of one padded length stay in the order drawn.
        order = order[np.argsort(steps[order], kind="stable")]
        chunks = np.array_split(order, self.count(size))
        for number in _order(len(chunks), rng):
            chosen = chunks[number]
            batch = Batch(tuple(chosen.tolist()), (size, int(steps[chosen].max()) * LENGTH_STEP))
            if self.of_words:
                labels = batch.rows(self.labels, NONE)  # type: ignore[arg-type]
            else:
                labels = np.full(size, NONE, "int32")
                labels[: len(chosen)] = [self.labels[i][0] for i in chosen]
            features = {**self.inputs.side.of_batch(batch), "words": batch.rows(self.inputs.words)}
            if self.inputs.ends is not None:
                features["ends"] = batch.rows(self.inputs.ends)
            rows = np.pad(chosen, (0, size - len(chosen)))
            if self.of_words:
                rows = np.broadcast_to(rows[:, None], labels.shape)
            yield ProbeBatch(features, labels, rows)

    @property
    def size(self) -> int:
        """The number of sentences."""
        return len(self.labels)

    def count(self, size: int) -> int:
        """Return the number of batches."""
        return -(-self.size // size)


def _order(count: int, rng: np.random.Generator | None) -> np.ndarray:
    return np.arange(count) if rng is None else rng.permutation(count)
