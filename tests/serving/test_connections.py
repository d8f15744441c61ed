"""Connections that are made as a server ends."""

import asyncio

import pytest
import uvicorn
from uvicorn.server import ServerState

from t2t_phrase.serving import connections
from t2t_phrase.serving.connections import limited_connection


async def _application(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"answered"})


async def _received(request: bytes, **limits) -> bytes:
    """Return what a client of a new connection receives until the server closes it."""
    protocol = limited_connection(most=10, read_timeout=600.0, write_timeout=600.0, **limits)
    config, state = uvicorn.Config(_application, lifespan="off", log_config=None), ServerState()
    config.load()
    server = await asyncio.get_running_loop().create_server(
        lambda: protocol(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(request)
        try:
            return await asyncio.wait_for(reader.read(), 120)
        finally:
            writer.close()


# uvicorn has told all connections to close before it made this one.
def test_a_connection_that_is_made_as_the_server_ends_is_closed():
    assert asyncio.run(_received(b"", ending=lambda: True)) == b""


def test_a_first_request_is_answered_as_the_server_ends(monkeypatch):
    monkeypatch.setattr(connections, "_FIRST_REQUEST_SECONDS", 120.0)
    request = b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"
    assert b"answered" in asyncio.run(_received(request, ending=lambda: True))


def test_a_connection_stays_open_otherwise():
    with pytest.raises(TimeoutError):
        asyncio.run(asyncio.wait_for(_received(b"", ending=lambda: False), 1.5))
