"""Choose the engine by Keras' backend, and the devices of this machine or of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras

from t2t_phrase.config import UserError
from t2t_phrase.training.peers import TIMEOUT
from t2t_phrase.training.stepper import BaseStepper


def make_strategy(
    *, worker_gpu: int = 0, devices: Sequence[str] | None = None, patience: float = TIMEOUT
) -> Any:
    """Return the strategy for the available devices: a `tf.distribute.Strategy`, or `JaxDevices`.

    If `TF_CONFIG` in the environment lists several workers, this process joins them; in that case,
    call this before any other use of TensorFlow. JAX trains on one machine.

    Args:
        worker_gpu: number of GPUs of this machine to use; 0: all of them, or the CPU if there are
            none.
        devices: use these devices of TensorFlow instead, such as ("CPU:0", "CPU:1").
        patience: seconds that another worker may be silent; `Peers` says which one it was.

    Raises:
        UserError: the machine has fewer GPUs than requested, `TF_CONFIG` is wrong, or Keras uses
            another backend.
    """
    if on_jax():
        from t2t_phrase.training.jax_devices import make_devices

        return make_devices(worker_gpu)
    if keras.backend.backend() != "tensorflow":
        raise UserError(
            f"KERAS_BACKEND={keras.backend.backend()}: runs are trained on tensorflow or jax; on "
            "another backend, train the model by its method `fit`"
        )
    from t2t_phrase.training import strategies

    return strategies.make_strategy(worker_gpu=worker_gpu, devices=devices, patience=patience)


def devices_of_worker(worker_gpu: int) -> int:
    """Return the number of devices of this machine that `make_strategy` would take.

    Args:
        worker_gpu: as for `make_strategy`.

    Raises:
        UserError: as for `make_strategy`.
    """
    if on_jax():
        from t2t_phrase.training.jax_devices import make_devices

        return make_devices(worker_gpu).num_replicas_in_sync
    from t2t_phrase.training.strategies import gpus_to_use

    return gpus_to_use(worker_gpu) or 1


def stepper_class() -> type[BaseStepper]:
    """Return the class that makes updates with this engine."""
    if on_jax():
        from t2t_phrase.training.jax_step import JaxStepper

        return JaxStepper
    from t2t_phrase.training.step import Stepper

    return Stepper


def has_gpu() -> bool:
    """Return whether the engine finds a GPU (or, JAX, another accelerator)."""
    if on_jax():
        from t2t_phrase.training.jax_devices import accelerators

        return bool(accelerators())
    from t2t_phrase.training.strategies import gpus

    return bool(gpus())


def peak_bytes() -> dict[str, int]:
    """Return the peak memory of each GPU by its name."""
    if on_jax():
        from t2t_phrase.training import jax_devices

        return jax_devices.peak_bytes()
    from t2t_phrase.training import strategies

    return strategies.peak_bytes()


def on_jax() -> bool:
    """Return whether JAX is the engine, and not TensorFlow."""
    return keras.backend.backend() == "jax"
