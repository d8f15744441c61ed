"""Lines of JSON over a connection, whose other end may fall silent."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

# Seconds between two signs of life, and between two checks for one.
TICK = 1.0
# The most bytes in a line; otherwise, a stranger that connects could fill the memory.
_LONGEST = 2**26


class SilentError(OSError):
    """The other end was silent for too long."""


class Wire:
    """A connection over which objects are sent as JSON, one per line.

    Any thread may send; only one may receive.

    Args:
        connection: a connected socket.
        patience: seconds without a line after which the other end counts as silent.
    """

    def __init__(self, connection: socket.socket, patience: float) -> None:
        self._connection = connection
        self._patience = patience
        self._sending = threading.Lock()
        connection.settimeout(min(TICK, patience))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, **message: Any) -> None:
        """Send an object.

        Raises:
            OSError: the connection is broken, or the other end takes nothing.
        """
        with self._sending:
            self._connection.sendall(json.dumps(message).encode() + b"\n")

    def messages(self) -> Iterator[dict[str, Any]]:
        """Yield the messages of the other end, until it closes the connection.

        Raises:
            SilentError: nothing has arrived for `patience` seconds.
            OSError: the connection is broken.
            ValueError: the data received do not follow this protocol.
        """
        pending, waited = b"", 0.0
        while True:
            try:
                received = self._connection.recv(2**16)
            except TimeoutError:
                # Waits are counted, not measured: if this process itself was suspended, the
                # other end was not at fault.
                waited += min(TICK, self._patience)
                if waited >= self._patience:
                    raise SilentError from None
                continue
            if not received:
                return
            waited = 0.0
            *lines, pending = (pending + received).split(b"\n")
            if len(pending) > _LONGEST:
                raise ValueError("a line is too long")
            for line in lines:
                message = json.loads(line)
                if not isinstance(message, dict):
                    raise ValueError("a line is not an object")
                yield message

    def close(self) -> None:
        """Close the connection; the other end receives what was sent before."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()
