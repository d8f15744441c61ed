"""Sharing of facts that one worker knows, such as a signal or the chief's BLEU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from t2t_phrase.compile import traced


class Agreement:
    """Shares numbers among the workers, so that all of them take the same decisions.

    A worker that stopped alone would leave the others waiting for it for ever. Each call is one
    small all-reduce, which all workers must take part in at the same point; with one worker it
    costs nothing.

    Args:
        strategy: from `make_strategy`.
    """

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        self._strategy = strategy
        resolver = strategy.cluster_resolver
        cluster = resolver.cluster_spec().as_dict() if resolver is not None else {}
        self._workers = sum(len(tasks) for tasks in cluster.values()) or 1
        self._gather = traced(self._gather_replicas)

    def largest(self, number: float) -> float:
        """Return the largest number that any worker gives."""
        return float(self._everyones([number])[:, 0].max())

    def same(self, number: float) -> bool:
        """Return whether all workers give the same number."""
        return len(set(self._everyones([number])[:, 0].tolist())) == 1

    def of_chief(self, numbers: Sequence[float]) -> list[float]:
        """Return the chief's numbers; those of the other workers do not matter."""
        return self._everyones(numbers)[0].tolist()

    def _everyones(self, numbers: Sequence[float]) -> np.ndarray:
        """Return (replicas, numbers): a row for each replica, the chief's first."""
        own = np.array(numbers, np.float64)
        return own[None] if self._workers == 1 else self._gather(tf.constant(own)).numpy()

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
