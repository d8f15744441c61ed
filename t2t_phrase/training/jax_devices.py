"""The devices of JAX: all GPUs or TPU cores of this machine, or the CPU."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from t2t_phrase.config import UserError
from t2t_phrase.training.cluster import VARIABLE, read_cluster

# The name of the only axis of the mesh.
REPLICAS = "replicas"


@dataclasses.dataclass(frozen=True)
class JaxDevices:
    """Devices that hold the same weights and share the rows of each batch.

    It has the attributes of a `tf.distribute.Strategy` that are needed to set up a run.

    Args:
        devices: devices of this machine.
    """

    devices: tuple[Any, ...]

    @property
    def num_replicas_in_sync(self) -> int:
        """The number of devices."""
        return len(self.devices)

    def scope(self) -> contextlib.AbstractContextManager[None]:
        """Return a context for making a model: one that changes nothing."""
        return contextlib.nullcontext()

    @property
    def mesh(self) -> Mesh:
        """The devices in a row."""
        return Mesh(np.array(self.devices), (REPLICAS,))

    def sharding(self, *axes: str | None) -> NamedSharding:
        """Return the layout of an array.

        Args:
            *axes: `REPLICAS` for an axis that is divided among the devices; no axes: every device
                has the whole array.
        """
        return NamedSharding(self.mesh, PartitionSpec(*axes))

    def shared_out(self, function: Callable[..., Any], whole: int) -> Callable[..., Any]:
        """Return a function that each device computes on its rows, and whose results are added up.

        Args:
            function: called with the number of the device, `whole` arguments that are the same on
                all devices, and a dictionary of (parts, rows, length) with its share of the rows.
            whole: the number of arguments that are the same on all devices.
        """
        if len(self.devices) == 1:
            return lambda *arguments: function(0, *arguments)

        def on_each(*arguments: Any) -> Any:
            return jax.lax.psum(function(jax.lax.axis_index(REPLICAS), *arguments), REPLICAS)

        specs = (*[PartitionSpec()] * whole, PartitionSpec(None, REPLICAS))
        return _shard_map(on_each, self.mesh, specs, PartitionSpec())


def _shard_map(function: Callable[..., Any], mesh: Mesh, inputs: Any, outputs: Any) -> Any:
    # Whether values are the same on all devices is not checked: layers of Keras do not declare it.
    if hasattr(jax, "shard_map"):
        return jax.shard_map(
            function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False
        )
    from jax.experimental.shard_map import shard_map

    return shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_rep=False)


def make_devices(worker_gpu: int) -> JaxDevices:
    """Return the devices of this machine.

    Args:
        worker_gpu: number of GPUs or TPU cores; 0: all of them, or the CPU if there are none.

    Raises:
        UserError: the machine has fewer than `worker_gpu`, or `TF_CONFIG` lists other workers.
    """
    if read_cluster().workers > 1:
        raise UserError(
            f"{VARIABLE} lists several workers, but KERAS_BACKEND=jax trains on one machine; unset "
            f"{VARIABLE}, or set KERAS_BACKEND=tensorflow"
        )
    found = accelerators()
    if worker_gpu > len(found):
        raise UserError(
            f"--worker_gpu={worker_gpu}: JAX finds {len(found)} GPUs on this machine; use at most "
            "that many, or 0 for all of them"
        )
    # XLA_FLAGS may divide the CPU into several devices.
    return JaxDevices(tuple(found[: worker_gpu or None]) or tuple(jax.local_devices()))


def accelerators() -> list[Any]:
    """Return the devices of this machine that are not CPUs."""
    return [device for device in jax.local_devices() if device.platform != "cpu"]


def peak_bytes() -> dict[str, int]:
    """Return the peak memory of each accelerator by its name."""
    return {
        f"{device.platform.upper()}:{device.id}": (device.memory_stats() or {}).get(
            "peak_bytes_in_use", 0
        )
        for device in accelerators()
    }
