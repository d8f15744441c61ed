"""Agreement of several workers, through TensorFlow's all-reduce."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import keras
import numpy as np
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.training.agreement import Agreement
from t2t_phrase.training.cluster import Cluster, read_cluster

# Bytes of variables that are shared at a time.
_GROUP = 2**26


class WorkerAgreement(Agreement):
    """Shares numbers, texts and variables among the workers of a strategy.

    Args:
        strategy: from `make_strategy`.
        cluster: the workers, at least two.
    """

    def __init__(self, strategy: tf.distribute.Strategy, cluster: Cluster) -> None:
        self._strategy = strategy
        self.worker, self.workers = cluster.rank, cluster.workers
        self.is_chief = cluster.is_chief
        self._gather = traced(self._gather_replicas)
        self._sum = traced(self._sum_workers, input_signature=[tf.TensorSpec((None,), tf.int64)])

    def text_of_chief(self, text: str) -> str:
        """Return the chief's text; the texts of the other workers are ignored."""
        size = int(self.of_chief([len(content := text.encode())])[0])
        own = np.frombuffer(content, np.uint8) if self.is_chief else np.zeros(size, np.uint8)
        return self._of_chief(own).tobytes().decode()

    def share(self, variables: Iterable[keras.Variable]) -> None:
        """Give the variables of all workers the chief's values, bit for bit."""
        for group in _groups(variables):
            own = [np.array(variable.numpy(), order="C") for variable in group]
            flat = [value.reshape(-1).view(np.uint8) for value in own]
            shared = self._of_chief(np.concatenate(flat))
            if self.is_chief:
                continue
            ends = np.cumsum([len(content) for content in flat])
            for variable, value, content in zip(group, own, np.split(shared, ends), strict=False):
                variable.assign(content.view(value.dtype).reshape(value.shape))

    def _of_chief(self, content: np.ndarray) -> np.ndarray:
        """Return the chief's bytes, (N,) uint8; the others give an array of the same size."""
        # Sums of integers are exact, and every kind of device supports them.
        padded = np.zeros(-(-len(content) // 8) * 8, np.uint8)
        if self.is_chief:
            padded[: len(content)] = content
        return self._sum(tf.constant(padded.view(np.int64))).numpy().view(np.uint8)[: len(content)]

    def _everyones(self, numbers: Sequence[float]) -> np.ndarray:
        return self._gather(tf.constant(np.array(numbers, np.float64))).numpy()

    def _gather_replicas(self, numbers: tf.Tensor) -> tf.Tensor:
        def replica(numbers: tf.Tensor) -> tf.Tensor:
            context = tf.distribute.get_replica_context()
            own_row = tf.one_hot(
                context.replica_id_in_sync_group,
                self._strategy.num_replicas_in_sync,
                dtype=tf.float64,
            )
            rows = own_row[:, None] * numbers[None]
            return context.all_reduce(tf.distribute.ReduceOp.SUM, rows)

        gathered = self._strategy.run(replica, args=(numbers,))
        return self._strategy.experimental_local_results(gathered)[0]

    def _sum_workers(self, numbers: tf.Tensor) -> tf.Tensor:
        def replica(numbers: tf.Tensor) -> tf.Tensor:
            context = tf.distribute.get_replica_context()
            # Of several replicas of a worker, only the first contributes its numbers.
            count = self._strategy.num_replicas_in_sync // self.workers
            first = tf.equal(context.replica_id_in_sync_group % count, 0)
            own = tf.where(first, numbers, tf.zeros_like(numbers))
            return context.all_reduce(tf.distribute.ReduceOp.SUM, own)

        summed = self._strategy.run(replica, args=(numbers,))
        return self._strategy.experimental_local_results(summed)[0]


def agreement_of(strategy: tf.distribute.Strategy) -> Agreement:
    """Return the agreement of the one or more workers of a strategy."""
    cluster = read_cluster()
    return WorkerAgreement(strategy, cluster) if cluster.workers > 1 else Agreement()


def _groups(variables: Iterable[keras.Variable]) -> Iterator[list[keras.Variable]]:
    """Yield groups of variables of about `_GROUP` bytes."""
    group: list[keras.Variable] = []
    size = 0
    for variable in variables:
        group.append(variable)
        size += variable.numpy().nbytes
        if size >= _GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group
