"""Hosts on one machine: network namespaces that a bridge connects."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from collections.abc import Sequence
from typing import Any


def missing() -> str:
    """Return why there can be no namespaces here; empty: there can."""
    if os.geteuid():
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "the command `ip` (iproute2) is missing"
    probe = f"t2t{uuid.uuid4().hex[:6]}"
    if subprocess.run(["ip", "netns", "add", probe], capture_output=True).returncode:
        return "network namespaces cannot be made here"
    _ip("netns", "delete", probe)
    return ""


class Hosts:
    """Namespaces with the addresses 10.77.0.1, 10.77.0.2 and so on; a context.

    Args:
        count: number of hosts.
    """

    def __init__(self, count: int) -> None:
        self._name = f"t2t{uuid.uuid4().hex[:6]}"
        self.count = count

    def __enter__(self) -> Hosts:
        # The bridge is in a namespace of its own, so that nothing of the machine is touched.
        _ip("netns", "add", self._switch)
        self._inside(self._switch, "link", "add", "bridge", "type", "bridge")
        self._inside(self._switch, "link", "set", "bridge", "up")
        for host in range(self.count):
            space, port = self._space(host), f"port{host}"
            _ip("netns", "add", space)
            self._inside(
                self._switch, *f"link add {port} type veth peer name eth netns".split(), space
            )
            self._inside(self._switch, *f"link set {port} master bridge up".split())
            self._inside(space, "address", "add", f"{self.address(host)}/24", "dev", "eth")
            self._inside(space, "link", "set", "eth", "up")
            self._inside(space, "link", "set", "lo", "up")
        return self

    def __exit__(self, *exception: object) -> None:
        for space in (*map(self._space, range(self.count)), self._switch):
            _ip("netns", "delete", space)

    @staticmethod
    def address(host: int) -> str:
        """Return the address of a host."""
        return f"10.77.0.{host + 1}"

    def start(self, host: int, command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
        """Start a command on a host; the options are those of `Popen`."""
        enter = ["ip", "netns", "exec", self._space(host)]
        return subprocess.Popen([*enter, *command], text=True, **options)

    def disconnect(self, host: int) -> None:
        """Cut a host off the network."""
        self._inside(self._switch, "link", "set", f"port{host}", "down")

    def connect(self, host: int) -> None:
        """Undo `disconnect`."""
        self._inside(self._switch, "link", "set", f"port{host}", "up")

    @property
    def _switch(self) -> str:
        return f"{self._name}s"

    def _space(self, host: int) -> str:
        return f"{self._name}h{host}"

    def _inside(self, space: str, *arguments: str) -> None:
        _ip("-netns", space, *arguments)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
