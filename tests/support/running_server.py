"""Servers of toy models in threads, and clients of them."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from t2t_phrase.serving.hparams import ServingHParams
from t2t_phrase.serving.servable import Output, Servable, Signature
from t2t_phrase.serving.server import TranslationServer, bind
from t2t_phrase.serving.versions import OneVersion, Versions

NAME = "toy"
# Seconds after which something has failed; a busy machine may take long for anything.
PATIENCE = 120.0
TEXT, NUMBER = Output("DT_STRING", (-1,)), Output("DT_FLOAT", (-1,))


class Answer(NamedTuple):
    """An answer of HTTP."""

    status: int
    body: Any
    headers: dict[str, str]


def upper(columns: Sequence[Sequence[bytes]]) -> dict[str, list[Any]]:
    """Translate to capitals; the score is the number of bytes."""
    return {
        "translation": [text.upper() for text in columns[0]],
        "score": [float(len(text)) for text in columns[0]],
    }


def lengths(columns: Sequence[Sequence[bytes]]) -> dict[str, list[Any]]:
    """Score pairs by the length of the target."""
    return {"log_probability": [-float(len(target)) for target in columns[1]]}


def toy_servable(version: int = 1, run: Callable[..., Any] = upper) -> Servable:
    """Return a model that needs no TensorFlow."""
    signatures = (
        Signature("serving_default", ("text",), {"translation": TEXT, "score": NUMBER}, run),
        Signature("score", ("source", "target"), {"log_probability": NUMBER}, lengths),
    )
    return Servable(
        version,
        {signature.name: signature for signature in signatures},
        lambda texts: sum(len(text.split()) for text in texts),
    )


@contextlib.contextmanager
def running(
    served: Servable | Versions | None = None,
    *,
    workers: int = 2,
    page: Callable[[str], str] | None = None,
    **limits: Any,
) -> Iterator[TranslationServer]:
    """Yield a server at a free port; it is stopped afterwards.

    Args:
        served: the model or its versions; None: `toy_servable()`.
        workers: threads that search.
        page: see `Service`.
        **limits: fields of `ServingHParams`.
    """
    if served is None or isinstance(served, Servable):
        served = OneVersion(served or toy_servable())
    hparams = ServingHParams(**{"drain_seconds": 0.0, **limits})
    server = TranslationServer(
        NAME, served, hparams, listener=bind("127.0.0.1", 0), workers=workers, page=page
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_until(lambda: reachable(server.url))
        yield server
    finally:
        server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def address(url: str) -> tuple[str, int]:
    """Return host and port of a server."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    return host, int(port)


def reachable(url: str) -> bool:
    """Return whether a server listens."""
    try:
        socket.create_connection(address(url), 1).close()
    except OSError:
        return False
    return True


def ask(
    url: str,
    path: str,
    body: Any = None,
    *,
    connection: http.client.HTTPConnection | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """Return the answer to one request: GET, or POST if there is a body, JSON if it is no bytes."""
    used = connection or http.client.HTTPConnection(*address(url), timeout=PATIENCE)
    try:
        if body is None:
            used.request("GET", path, headers=headers or {})
        else:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            used.request("POST", path, data, headers=headers or {})
        response = used.getresponse()
        content: Any = response.read()
        if response.headers.get_content_type() == "application/json":
            content = json.loads(content)
        return Answer(response.status, content, dict(response.headers))
    finally:
        if connection is None:
            used.close()


def predict(url: str, body: Any, *, name: str = NAME, **options: Any) -> Answer:
    """Return the answer to a request for a prediction."""
    return ask(url, f"/v1/models/{name}:predict", body, **options)


def raw(url: str, *parts: bytes, pause: float = 0.0, seconds: float = PATIENCE) -> bytes:
    """Send bytes, part by part, and return all that the server sends until it closes."""
    received = b""
    with socket.create_connection(address(url), seconds) as client:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for part in parts:
                client.sendall(part)
                time.sleep(pause)
        with contextlib.suppress(ConnectionResetError):
            while chunk := client.recv(65536):
                received += chunk
    return received


def metric(url: str, name: str) -> float:
    """Return the value of a metric of a server."""
    text = ask(url, "/metrics").body.decode()
    return sum(float(value) for value in re.findall(rf"(?m)^{name}(?:{{.*}})? (\S+)$", text))


class Gate:
    """A model that searches only while it is open, and notes its batches."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.batches: list[list[str]] = []

    def __call__(self, columns: Any) -> Any:
        self.batches.append([text.decode() for text in columns[0]])
        assert self.open.wait(PATIENCE)
        return upper(columns)
