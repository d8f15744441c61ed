"""The time between the signal that stops a server and its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Application = Callable[..., Awaitable[None]]


class Draining:
    """Whether a server is about to stop; if so, each answer closes its connection.

    A client that keeps its connection open would otherwise send a request to a server that has
    gone.

    Attributes:
        begun: whether the server is about to stop.
    """

    def __init__(self) -> None:
        self.begun = False

    def around(self, application: Application) -> Application:
        """Return an ASGI application whose answers say that the connection will be closed."""

        async def wrapped(scope: Message, receive: Any, send: Any) -> None:
            async def send_closing(message: Message) -> None:
                if message["type"] == "http.response.start" and self.begun:
                    kept = [pair for pair in message["headers"] if pair[0] != b"connection"]
                    message = {**message, "headers": [*kept, (b"connection", b"close")]}
                await send(message)

            await application(scope, receive, send_closing)

        return wrapped
