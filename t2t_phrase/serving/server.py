"""Runs the application: sockets, signals, and a stop that loses no request."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from signal import SIGINT, SIGTERM

import uvicorn

from t2t_phrase.config import UserError
from t2t_phrase.io.signals import heeded_signals
from t2t_phrase.serving.connections import limited_connection
from t2t_phrase.serving.draining import Draining
from t2t_phrase.serving.hparams import ServingHParams
from t2t_phrase.serving.messages import note
from t2t_phrase.serving.service import Service
from t2t_phrase.serving.versions import Versions

# Connections that the system has accepted and the server has not.
_BACKLOG = 512
# Time after which an idle connection is closed; longer than clients commonly keep theirs.
_IDLE_SECONDS = 75
# Files that the process needs besides connections.
_OTHER_FILES = 128


def bind(host: str, port: int) -> socket.socket:
    """Return a socket bound to an address, which does not listen yet.

    Args:
        host: name or address; "localhost" and "127.0.0.1" are reached from this machine only.
        port: the port; 0: any that is free.

    Raises:
        UserError: the address is unknown, in use or not allowed.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise UserError(f"--host={host}: is not an address of this machine ({error})") from error
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(address)
    except OSError as error:
        made.close()
        raise _refused(error, host, port) from error
    return made


def _refused(error: OSError, host: str, port: int) -> UserError:
    if error.errno in (errno.EADDRINUSE, errno.EACCES):
        return UserError(f"--port={port}: {error.strerror}; give another port")
    return UserError(f"--host={host}: {error.strerror}")


class TranslationServer:
    """A server of one model.

    Args:
        name: the name of the model in addresses.
        versions: the versions of the model.
        hparams: limits and times.
        listener: see `bind`.
        workers: how many batches are searched at the same time.
        page: see `Service`.

    Attributes:
        url: the address of the server.
    """

    def __init__(
        self,
        name: str,
        versions: Versions,
        hparams: ServingHParams,
        *,
        listener: socket.socket,
        workers: int,
        page: Callable[[str], str] | None = None,
    ) -> None:
        self._listener = listener
        host, port, *_ = listener.getsockname()
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        self._service = Service(
            name,
            versions,
            hparams,
            workers=workers,
            connections=lambda: len(self._server.server_state.connections),
            page=page,
        )
        draining = self._service.draining
        config = uvicorn.Config(
            draining.around(self._service.application),
            http=limited_connection(
                most=allowed_connections(hparams.max_connections),
                read_timeout=hparams.read_timeout,
                write_timeout=hparams.timeout,
                ending=lambda: self._server.should_exit,
            ),
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            server_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=_IDLE_SECONDS,
        )
        self._server = _GracefulServer(
            config,
            draining,
            hparams.drain_seconds,
            lambda: note(f"{name}, version {versions.current.version}: {self.url}"),
        )

    def run(self) -> None:
        """Answer requests until SIGTERM, SIGINT or `stop`, finishing those that have arrived.

        Raises:
            UserError: another server has begun to listen at the address.
        """
        try:
            # Of servers that load their models at the same time, all can bind, and one can listen.
            self._listener.listen(_BACKLOG)
        except OSError as error:
            host, port, *_ = self._listener.getsockname()
            self._listener.close()
            raise _refused(error, host, port) from error
        self._service.start()
        try:
            self._server.run(sockets=[self._listener])
        finally:
            self._service.stop()
            self._listener.close()
        answered = self._service.metrics.answered
        note(f"stopped; {answered} requests for predictions were answered")

    def stop(self) -> None:
        """Begin to stop; may be called by any thread, and before `run` has begun to listen."""
        self._server.stop_soon()


class _GracefulServer(uvicorn.Server):
    """Answers for some time after the signal, telling clients to close their connections.

    Args:
        config: the configuration of uvicorn.
        draining: begun by the signal.
        seconds: how long new requests are still answered after the signal.
        on_start: called when the server listens.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        draining: Draining,
        seconds: float,
        on_start: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._draining, self._seconds, self._on_start = draining, seconds, on_start
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked, self._lock = False, threading.Lock()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and call `on_start`."""
        await super().startup(sockets=sockets)
        self._on_start()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals while the server runs; it then ends without an error.

        Signals that the caller ignores stay ignored.
        """
        loop = asyncio.get_running_loop()
        with self._lock:
            self._loop = loop
            if self._asked:
                loop.call_soon(self._begin)
        handled = [number for number in (SIGTERM, SIGINT) if number in heeded_signals()]
        if threading.current_thread() is not threading.main_thread():
            handled = []
        for number in handled:
            loop.add_signal_handler(number, self._begin)
        try:
            yield
        finally:
            for number in handled:
                loop.remove_signal_handler(number)
            with self._lock:
                self._loop = None

    def stop_soon(self) -> None:
        with self._lock:
            self._asked = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        if self._draining.begun:
            # A second signal: wait no longer for new requests.
            self.should_exit = True
            return
        self._draining.begun = True
        asyncio.get_running_loop().call_later(self._seconds, self._end)

    def _end(self) -> None:
        self.should_exit = True


def allowed_connections(wanted: int) -> int:
    """Raise the limit of open files, and return the number of connections that may be open."""
    needed = wanted + _BACKLOG + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < needed:
            fewer = max(1, soft - _BACKLOG - _OTHER_FILES)
            note(
                f"max_connections={wanted}: the system allows {soft} open files, so {fewer} is used"
            )
            return fewer
    return wanted
