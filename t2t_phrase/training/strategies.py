"""TensorFlow's devices: one, all GPUs of the machine, or those of several machines."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.training.cluster import check_port, read_cluster


def make_strategy(
    *, worker_gpu: int = 0, devices: Sequence[str] | None = None
) -> tf.distribute.Strategy:
    """Return the strategy for the available devices.

    If `TF_CONFIG` in the environment lists several workers, this process joins them; call this
    before any other use of TensorFlow then.

    Args:
        worker_gpu: number of GPUs of this machine to use; 0: all of them, or the CPU if there are
            none.
        devices: use these devices instead, such as ("CPU:0", "CPU:1").

    Raises:
        UserError: the machine has fewer GPUs than requested, or `TF_CONFIG` is wrong.
    """
    if devices:
        return tf.distribute.MirroredStrategy(list(devices))
    cluster = read_cluster()
    gpus = tf.config.list_physical_devices("GPU")
    if worker_gpu > len(gpus):
        raise UserError(
            f"--worker_gpu={worker_gpu}: TensorFlow finds {len(gpus)} GPUs on this machine; use "
            "at most that many, or 0 for all of them"
        )
    count = worker_gpu or len(gpus)
    for gpu in gpus:
        # Otherwise the process reserves all memory, and the peak cannot be measured.
        tf.config.experimental.set_memory_growth(gpu, True)
    if cluster.workers > 1:
        check_port(cluster)
        tf.config.set_visible_devices(gpus[:count], "GPU")
        return tf.distribute.MultiWorkerMirroredStrategy()
    if count > 1:
        return tf.distribute.MirroredStrategy([f"GPU:{i}" for i in range(count)])
    return tf.distribute.get_strategy()


def gpus() -> int:
    """Return the number of GPUs that TensorFlow finds."""
    return len(tf.config.list_physical_devices("GPU"))


def peak_bytes() -> dict[str, int]:
    """Return the peak memory of each GPU by its name."""
    return {
        f"GPU:{index}": tf.config.experimental.get_memory_info(f"GPU:{index}")["peak"]
        for index in range(len(tf.config.list_logical_devices("GPU")))
    }
