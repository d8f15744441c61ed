"""Reads `TF_CONFIG`, which tells a worker about the others."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple

from t2t_phrase.config import UserError

VARIABLE = "TF_CONFIG"
_ROLES = ("chief", "worker")


class Cluster(NamedTuple):
    """The workers, the chief first, and the place of this process among them."""

    addresses: tuple[str, ...] = ()
    """HOST:PORT of each; empty without other workers."""
    rank: int = 0
    """Index of this process in `addresses`."""
    led: bool = False
    """Whether the chief has a separate role, so that it is not one of the numbered workers."""

    @property
    def workers(self) -> int:
        """The number of workers."""
        return max(1, len(self.addresses))

    @property
    def is_chief(self) -> bool:
        """Whether this process writes the files."""
        return self.rank == 0

    @property
    def address(self) -> str:
        """HOST:PORT of this process; empty without other workers."""
        return self.addresses[self.rank] if self.addresses else ""

    def name(self, index: int) -> str:
        """Return the name of a worker in messages: its role, number and address."""
        if index == 0:
            return f"the chief ({self.addresses[0]})"
        return f"worker {index - self.led} ({self.addresses[index]})"


def read_cluster(environment: Mapping[str, str] = os.environ) -> Cluster:
    """Return the cluster that `TF_CONFIG` describes; without it, one worker.

    Raises:
        UserError: `TF_CONFIG` does not have the form `{"cluster": {"worker": ["HOST:PORT", ...]},
            "task": {"type": "worker", "index": 0}}`.
    """
    text = environment.get(VARIABLE, "").strip()
    if text in ("", "{}"):
        return Cluster()
    try:
        stated = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _fault(f"is not JSON ({(str(error).splitlines() or [''])[0]})") from error
    if not isinstance(stated, dict) or not isinstance(stated.get("cluster"), dict):
        raise _fault('has no "cluster"')
    addresses = {role: _addresses(role, listed) for role, listed in stated["cluster"].items()}
    # In the order in which TensorFlow numbers them.
    chiefs, workers = addresses.get("chief", []), addresses.get("worker", [])
    everyone = [*chiefs, *workers]
    if not everyone:
        raise _fault("names no worker")
    if len(set(everyone)) < len(everyone):
        raise _fault("gives two workers the same address")
    role, index = _task(stated.get("task"), addresses)
    if len(chiefs) > 1:
        raise _fault("names two chiefs")
    if len(everyone) == 1:
        return Cluster()
    return Cluster(tuple(everyone), everyone.index(addresses[role][index]), bool(chiefs))


def check_port(cluster: Cluster) -> None:
    """Check that this worker can listen on its port.

    Raises:
        UserError: another process uses the port.
    """
    if not cluster.address:
        return
    port = int(cluster.address.rpartition(":")[2])
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            raise _fault(
                f"gives this worker the port {port}, which cannot be used: {error.strerror}"
            ) from error


def _addresses(role: str, listed: Any) -> list[str]:
    if role not in _ROLES:
        raise _fault(f"has the role {role[:40]!r}; the trainer knows {' and '.join(_ROLES)}")
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise _fault(f"does not list the addresses of {role!r} as HOST:PORT")
    for address in listed:
        host, _, port = address.rpartition(":")
        if not host or not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 2**16):
            raise _fault(f"has the address {address[:80]!r}, which is not HOST:PORT")
    return listed


def _task(task: Any, addresses: Mapping[str, list[str]]) -> tuple[str, int]:
    if not isinstance(task, dict):
        raise _fault('has no "task" that says which worker this process is')
    role, index = task.get("type"), task.get("index")
    if isinstance(index, str) and index.isascii() and index.isdecimal():
        index = int(index[:9])
    if not isinstance(role, str) or role not in addresses:
        raise _fault(f"has the task type {str(role)[:40]!r}, which its cluster does not have")
    if type(index) is not int or not 0 <= index < len(addresses[role]):
        raise _fault(
            f"has the task index {str(index)[:40]!r}; its cluster has {len(addresses[role])} of "
            f"type {role!r}, counted from 0"
        )
    return role, index


def _fault(what: str) -> UserError:
    return UserError(
        f"{VARIABLE} {what}; correct it, or unset it to train on this machine alone. Its form is "
        '{"cluster": {"worker": ["HOST:PORT", ...]}, "task": {"type": "worker", "index": 0}}'
    )
