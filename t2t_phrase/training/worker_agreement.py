"""Agreement of several workers, by all-reduces of TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.training.agreement import Agreement


class WorkerAgreement(Agreement):
    """Shares numbers among the workers of a strategy.

    Args:
        strategy: from `make_strategy`.
    """

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        self._strategy = strategy
        resolver = strategy.cluster_resolver
        cluster = resolver.cluster_spec().as_dict() if resolver is not None else {}
        self._workers = sum(len(tasks) for tasks in cluster.values()) or 1
        self._gather = traced(self._gather_replicas)

    def _everyones(self, numbers: Sequence[float]) -> np.ndarray:
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
