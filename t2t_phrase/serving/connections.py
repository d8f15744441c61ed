"""Connections of uvicorn that are bounded in number and in the time that a client may take."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# How long a server that stops waits for the first request of a connection.
_FIRST_REQUEST_SECONDS = 0.5


def limited_connection(
    *, most: int, read_timeout: float, write_timeout: float, ending: Callable[[], bool]
) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP/1.1 protocol with limits.

    uvicorn itself waits forever for the headers of a request, and for a client to read its answer,
    and as it stops, it closes connections whose first request has not been read yet.

    Args:
        most: the most connections at the same time; others are answered with 503 and closed.
        read_timeout: seconds from the start of the connection, or from the first byte of a further
            request, to the end of the headers; then the connection is closed after 408.
        write_timeout: seconds that a client may leave an answer unread; then it is disconnected.
        ending: returns whether uvicorn stops listening now, or has.
    """

    class LimitedConnection(H11Protocol):
        _reading: asyncio.TimerHandle | None = None
        _writing: asyncio.TimerHandle | None = None
        _stopping: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            # Any unsent byte starts the time that a client has to read; by default, 64 KiB do.
            transport.set_write_buffer_limits(0)
            if len(self.connections) > most:
                self._refuse(503, "Service Unavailable", f"{most} connections are already open")
            else:
                self._reading = self._after(read_timeout, self._slow)
                if ending():
                    self.shutdown()

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            super().data_received(data)
            waits = self.cycle is None or self.cycle.response_complete
            if not waits or self.transport.is_closing():
                self._reading = _cancel(self._reading)
            elif self._reading is None:
                self._reading = self._after(read_timeout, self._slow)

        def connection_lost(self, exc: Exception | None) -> None:
            self._reading = _cancel(self._reading)
            self._writing = _cancel(self._writing)
            self._stopping = _cancel(self._stopping)
            super().connection_lost(exc)

        def shutdown(self) -> None:
            self._stopping = _cancel(self._stopping)
            if self.cycle is None:
                self._stopping = self._after(_FIRST_REQUEST_SECONDS, self._close_unused)
            else:
                super().shutdown()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._writing = self._after(write_timeout, self.transport.abort)

        def resume_writing(self) -> None:
            self._writing = _cancel(self._writing)
            super().resume_writing()

        def send_400_response(self, msg: str) -> None:
            del msg
            message = "the request is not valid HTTP/1.1, or its first lines are too long"
            self._refuse(400, "Bad Request", message)

        def _after(self, seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
            return self.loop.call_later(seconds, call)

        def _close_unused(self) -> None:
            if self.cycle is None:
                super().shutdown()

        def _slow(self) -> None:
            self._reading = None
            self._refuse(
                408,
                "Request Timeout",
                f"the headers of the request did not arrive within {read_timeout:g} s",
            )

        def _refuse(self, status: int, phrase: str, message: str) -> None:
            if self.transport.is_closing():
                return
            body = json.dumps({"error": message}).encode()
            retry = "Retry-After: 1\r\n" if status == 503 else ""
            head = (
                f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n{retry}Connection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
            self.transport.close()

    return LimitedConnection


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel a timer, and return None in its place."""
    if timer is not None:
        timer.cancel()
    return None
