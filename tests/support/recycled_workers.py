"""Replaces workers of pytest-xdist that have grown, since compiled programs are never freed."""

from __future__ import annotations

from typing import Any

import pytest
from process_memory import resident_mib
from xdist.scheduler import LoadFileScheduling

# A worker that holds more than this finishes the files that it has been given, and ends.
LARGEST_MIB = 3000
TOGETHER = "tests/faults/"


class RecyclingScheduler(LoadFileScheduling):
    """Gives out whole files, and none to workers that hold more than `largest_mib`."""

    def __init__(self, config: pytest.Config, log: Any = None, largest_mib: int = LARGEST_MIB):
        super().__init__(config, log)
        self.largest_mib = largest_mib

    def _reschedule(self, node: Any) -> None:
        collecting = node not in self.registered_collections
        if collecting or self._pending_of(self.assigned_work[node]) > 2:
            return
        if self.workqueue and self.assigned_work[node] and self._is_large(node):
            node.shutdown()
            return
        super()._reschedule(node)
        # A worker begins a test once it knows the next one.
        if len(self.assigned_work[node]) == 1:
            super()._reschedule(node)

    def _split_scope(self, nodeid: str) -> str:
        """Return the file of a test, or the folder of those that share what takes long to make."""
        path = super()._split_scope(nodeid)
        return TOGETHER if path.startswith(TOGETHER) else path

    def add_node_collection(self, node: Any, collection: Any) -> None:
        super().add_node_collection(node, collection)
        if node not in self.registered_collections:
            raise RuntimeError("tests were changed while they ran: run them again")

    def _is_large(self, node: Any) -> bool:
        return resident_mib(node.gateway._io.popen.pid) > self.largest_mib


def replace_worker(node: Any) -> None:
    """End the process of a worker, and start another one if there are files to be run.

    pytest-xdist itself keeps the processes of workers until the end of the session.

    Args:
        node: the worker that has finished.
    """
    node.ensure_teardown()
    session = node.config.pluginmanager.get_plugin("dsession")
    if session.sched is not None and session.sched.workqueue and not session.shuttingdown:
        session._clone_node(node)
