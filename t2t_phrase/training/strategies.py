"""TensorFlow's devices: one, all GPUs of the machine, or those of several machines."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import tensorflow as tf
from tensorflow.python.eager import context

from t2t_phrase.config import UserError
from t2t_phrase.training.cluster import check_port, read_cluster
from t2t_phrase.training.peers import TIMEOUT


def make_strategy(
    *, worker_gpu: int = 0, devices: Sequence[str] | None = None, patience: float = TIMEOUT
) -> tf.distribute.Strategy:
    """Return the strategy for the available devices.

    If `TF_CONFIG` in the environment lists several workers, this process joins them; in that case,
    call this before any other use of TensorFlow.

    Args:
        worker_gpu: number of GPUs of this machine to use; 0: all of them, or the CPU if there are
            none.
        devices: use these devices instead, such as ("CPU:0", "CPU:1").
        patience: seconds that another worker may be silent; `Peers` says which one it was.

    Raises:
        UserError: the machine has fewer GPUs than requested, or `TF_CONFIG` is wrong.
    """
    if devices:
        return tf.distribute.MirroredStrategy(list(devices))
    cluster = read_cluster()
    gpus = tf.config.list_physical_devices("GPU")
    count = gpus_to_use(worker_gpu)
    for gpu in gpus:
        # Otherwise the process reserves all memory, and the peak cannot be measured.
        tf.config.experimental.set_memory_growth(gpu, True)
    if cluster.workers > 1:
        check_port(cluster)
        tf.config.set_visible_devices(gpus[:count], "GPU")
        _be_patient(patience)
        return tf.distribute.MultiWorkerMirroredStrategy()
    if count > 1:
        return tf.distribute.MirroredStrategy([f"GPU:{i}" for i in range(count)])
    return tf.distribute.get_strategy()


def gpus() -> int:
    """Return the number of GPUs that TensorFlow finds."""
    return len(tf.config.list_physical_devices("GPU"))


def gpus_to_use(worker_gpu: int) -> int:
    """Return the number of GPUs of this machine that are used, see `make_strategy`."""
    found = gpus()
    if worker_gpu > found:
        raise UserError(
            f"--worker_gpu={worker_gpu}: TensorFlow finds {found} GPUs on this machine; use "
            "at most that many, or 0 for all of them"
        )
    return worker_gpu or found


def peak_bytes() -> dict[str, int]:
    """Return the peak memory of each GPU by its name."""
    return {
        f"GPU:{index}": tf.config.experimental.get_memory_info(f"GPU:{index}")["peak"]
        for index in range(len(tf.config.list_logical_devices("GPU")))
    }


def _be_patient(seconds: float) -> None:
    """Let TensorFlow notice later than `Peers` that a worker is silent.

    TensorFlow's own limit is 10 s, which a worker that is only busy may exceed, and its message
    does not say what to do.
    """
    made = context.context()
    made.configure_coordination_service = functools.partial(
        made.configure_coordination_service,
        heartbeat_timeout_in_ms=int(1000 * (2 * seconds + 30)),
    )
