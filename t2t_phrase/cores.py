"""Division of a CPU's cores among parts of the work."""

from __future__ import annotations

import os

# The smallest parts that were measured; they were faster than a whole batch.
LEAST_SENTENCES = 4


def divide_cores(sentences: int | None, cores: int | None = None) -> int:
    """Divide the cores among parts and return the number of parts to search at the same time.

    Each operation of TensorFlow then uses the cores of its part only. Call this before TensorFlow
    computes anything. Returns 1 on a GPU, with JAX, or after TensorFlow has started.

    Args:
        sentences: number of sentences; None: unknown, perhaps many.
        cores: number of cores to use; None: TF_NUM_INTRAOP_THREADS, as in TensorFlow, or else all.
    """
    # Here, because data generation reads this module without Keras.
    import keras

    if keras.backend.backend() != "tensorflow":
        return 1
    import tensorflow as tf

    cores = cores or usable_cores()
    parts = cores if sentences is None else number_of_parts(sentences, cores)
    if parts == 1 or tf.config.list_physical_devices("GPU"):
        return 1
    try:
        tf.config.threading.set_intra_op_parallelism_threads(cores // parts)
    except RuntimeError:
        return 1
    return parts


def number_of_parts(sentences: int, most: int) -> int:
    """Return the number of parts into which sentences are divided for the search.

    Args:
        sentences: number of sentences.
        most: number of parts that can be searched at the same time.
    """
    return max(1, min(most, sentences // LEAST_SENTENCES))


def usable_cores() -> int:
    """Return TF_NUM_INTRAOP_THREADS, or else the number of CPUs that the process may use."""
    given = os.environ.get("TF_NUM_INTRAOP_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    # Not every system reports which cores a process may use.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
