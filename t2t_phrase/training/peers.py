"""The workers of a training watch each other, so that none waits for one that is gone."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from t2t_phrase.config import UserError
from t2t_phrase.training.cluster import Cluster
from t2t_phrase.training.pace import Pace, State
from t2t_phrase.training.wire import TICK, SilentError, Wire

# The chief listens on its port in TF_CONFIG plus this, or minus this if the sum is not a port.
OFFSET = 1000
# Seconds that a worker may be silent.
TIMEOUT = 60.0
# Workers may start this many timeouts apart, and may keep the others waiting as long in an update.
STARTING = 10
# Seconds for a last message to reach the others.
_LINGER = 1.0
_WAY_ON = "all workers stop; the same command on all of them resumes from the last checkpoint"


class LostWorkerError(UserError):
    """A worker is gone, or has stopped; the message names it."""

    def __init__(self, sentence: str, exit_code: int = 3) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def end_process(error: LostWorkerError) -> NoReturn:
    """End this process with the message of an error, whatever its main thread is waiting for."""
    time.sleep(_LINGER)
    # Printed last, below TensorFlow's messages about the lost worker. TensorFlow's collectives
    # cannot be interrupted. Files are written completely or not at all.
    with contextlib.suppress(OSError, ValueError):
        print(f"error: {error}", file=sys.stderr, flush=True)
        sys.stdout.flush()
    os._exit(error.exit_code)


@dataclasses.dataclass
class _Link:
    """The connection to another worker."""

    wire: Wire
    inbox: queue.Queue[Any] = dataclasses.field(default_factory=queue.Queue)
    state: State = State()  # noqa: RUF009
    left: bool = False
    """Whether the other worker has said that it is done."""


class Peers:
    """Connections between the chief and each other worker; a context in which they train.

    Each worker sends a sign of life every second. If a worker is silent for too long, closes its
    connection, or reports an error, the chief tells all others, and each of them ends with one
    sentence that names that worker: by an exception if the main thread is in a method of this
    object, otherwise by ending the process. Without other workers, none of this happens.

    An error that ends the block is reported to the others; an error of TensorFlow, which may be
    due to another worker's end, is replaced by the sentence that names that worker.

    Args:
        cluster: the workers.
        timeout: seconds that a worker may be silent.
        log: called with lines of text.
        end: ends the process; called in another thread.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        timeout: float = TIMEOUT,
        log: Callable[[str], None] = print,
        end: Callable[[LostWorkerError], Any] = end_process,
    ) -> None:
        self.cluster, self.timeout = cluster, timeout
        self._log, self._end = log, end
        self._links: dict[int, _Link] = {}
        # Held to change the attributes below.
        self._change = threading.Condition()
        self._verdict: LostWorkerError | None = None
        self._listens = False
        self._closed = threading.Event()
        self._state = State()
        self._pace = Pace(cluster.name, STARTING * timeout)

    def __enter__(self) -> Peers:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if error is None or isinstance(error, SystemExit):
            # On a signal, all workers stop at the same step.
            self._tell(bye=True)
        elif self._links and not self._verdict:
            if _is_of_tensorflow(error) and (found := self._await_verdict()):
                self.close()
                raise found from error
            with self._change:
                self._verdict = LostWorkerError(str(error))
            name, code = self.cluster.name(self.cluster.rank), getattr(error, "exit_code", 3)
            self._tell(stop=f"{name} stopped: {_sentence(error)}", code=code)
        if self._links and self._verdict:
            time.sleep(_LINGER)
        self.close()

    def join(self, facts: Mapping[str, Any]) -> None:
        """Wait until all workers are connected, and check that they have the same facts.

        Args:
            facts: see `compare`.

        Raises:
            LostWorkerError: a worker does not connect, or has other facts.
            UserError: this worker cannot listen on its port.
        """
        if self.cluster.workers == 1:
            return
        with self._listening():
            if not self.cluster.is_chief:
                self._reach_chief()
            # The chief may wait for others for longer than it may be silent.
            threading.Thread(target=self._beat, daemon=True).start()
            if self.cluster.is_chief:
                self._accept()
        self.compare(facts)

    def compare(self, facts: Mapping[str, Any]) -> None:
        """Check that all workers have the same facts.

        Args:
            facts: the values that must be the same, by the name to use in messages.

        Raises:
            LostWorkerError: a worker has other facts; the message names it and the difference.
        """
        own = {name: str(value) for name, value in facts.items()}
        if not self._links:
            return
        with self._listening():
            if not self.cluster.is_chief:
                self._tell(say=own)
                self._hear(0)
                return
            for index in sorted(self._links):
                theirs = self._hear(index)
                for name, value in own.items():
                    if theirs.get(name) != value:
                        self._fail(
                            f"{self.cluster.name(index)} differs from {self.cluster.name(0)} in "
                            f"{name}: {theirs.get(name)}, not {value}; give all workers the same",
                            code=2,
                        )
                        self._check()
            self._tell(say=True)

    def of_chief(self, value: Any) -> Any:
        """Return the chief's value, which must be JSON-serialisable; the others' are ignored.

        Raises:
            LostWorkerError: a worker is gone.
        """
        if not self._links:
            return value
        with self._listening():
            if not self.cluster.is_chief:
                return self._hear(0)
            self._tell(say=value)
        return value

    def at(self, step: int, doing: str, seconds: float = 0.0) -> None:
        """Record the current activity of this worker, for messages of the others.

        Args:
            step: number of the update that it works on.
            doing: "update", or a word for an activity that may take longer.
            seconds: seconds that its own part of an update takes; 0: not known.
        """
        self._state = State(step, doing, seconds)

    def close(self) -> None:
        """Close all connections."""
        self._closed.set()
        for link in list(self._links.values()):
            link.wire.close()

    # Connecting.

    @property
    def _watch_port(self) -> int:
        port = int(self.cluster.addresses[0].rpartition(":")[2])
        return port + OFFSET if port + OFFSET < 2**16 else port - OFFSET

    def _accept(self) -> None:
        host, port = self.cluster.addresses[0], self._watch_port
        family = socket.AF_INET6 if "[" in host else socket.AF_INET
        try:
            server = socket.create_server(("", port), family=family, backlog=self.cluster.workers)
        except OSError as error:
            raise UserError(
                f"TF_CONFIG gives the chief the address {host}, and it also needs the port {port}, "
                f"which cannot be used: {error.strerror}; give it another port"
            ) from error
        deadline = time.monotonic() + STARTING * self.timeout
        told = time.monotonic() + min(10.0, self.timeout)
        with server:
            server.settimeout(min(TICK, self.timeout))
            while missing := self._missing():
                names = ", ".join(map(self.cluster.name, missing))
                if time.monotonic() >= deadline:
                    self._fail(f"{names}: not connected within {STARTING * self.timeout:g} s")
                self._check()
                if time.monotonic() >= told:
                    self._log(f"waiting for {names}")
                    told = deadline
                with contextlib.suppress(TimeoutError):
                    connection, _ = server.accept()
                    self._listen_to(Wire(connection, self.timeout), None)
        self._check()

    def _missing(self) -> list[int]:
        return [i for i in range(1, self.cluster.workers) if i not in self._links]

    def _reach_chief(self) -> None:
        host = self.cluster.addresses[0].rpartition(":")[0].strip("[]")
        deadline = time.monotonic() + STARTING * self.timeout
        while True:
            try:
                connection = socket.create_connection((host, self._watch_port), self.timeout)
                break
            except OSError as error:
                if time.monotonic() >= deadline:
                    raise LostWorkerError(
                        f"{self.cluster.name(0)} could not be reached at port {self._watch_port} "
                        f"within {STARTING * self.timeout:g} s: {error.strerror or error}; start "
                        "it, or correct TF_CONFIG"
                    ) from error
                time.sleep(min(TICK, self.timeout) / 2)
        self._links[0] = _Link(Wire(connection, self.timeout))
        self._tell(hello=self.cluster.rank, addresses=self.cluster.addresses)
        self._listen_to(self._links[0].wire, 0)

    def _welcome(self, wire: Wire, message: dict[str, Any]) -> int | None:
        """Return the number of the worker that has connected; None: it is refused."""
        index = message.get("hello")
        if type(index) is not int or not 0 < index < self.cluster.workers:
            return None
        fault = ""
        with self._change:
            if message.get("addresses") != list(self.cluster.addresses):
                fault = "has different addresses in its TF_CONFIG from the chief's"
            elif index in self._links:
                fault = "was started twice"
            else:
                self._links[index] = _Link(wire)
        if fault:
            with contextlib.suppress(OSError):
                wire.send(stop=f"{self.cluster.name(index)} {fault}", code=2)
            self._fail(f"{self.cluster.name(index)} {fault}; {_WAY_ON}", code=2)
            return None
        return index

    # Talking.

    def _listen_to(self, wire: Wire, index: int | None) -> None:
        threading.Thread(target=self._receive, args=(wire, index), daemon=True).start()

    def _receive(self, wire: Wire, index: int | None) -> None:
        """Handle the messages of a connection until it ends."""
        try:
            for message in wire.messages():
                if index is None:
                    index = self._welcome(wire, message)
                    if index is None:
                        break
                self._take(index, message)
            cause = "has ended unexpectedly"
        except SilentError:
            cause = f"has not been heard from for {self.timeout:g} s"
        except ConnectionResetError:
            # The worker had not read everything that it was sent.
            cause = "has ended unexpectedly"
        except (OSError, ValueError) as error:
            cause = f"has been lost ({getattr(error, 'strerror', None) or error})"
        if index is None:
            wire.close()
        elif not self._links[index].left:
            at = self._links[index].state.step
            where = f" (last heard from at step {at})" if at else ""
            self._fail(f"{self.cluster.name(index)} {cause}{where}; {_WAY_ON}")

    def _take(self, index: int, message: dict[str, Any]) -> None:
        link = self._links[index]
        if "beat" in message:
            link.state = State(*message["beat"])
        elif "say" in message:
            link.inbox.put(message["say"])
        elif "stop" in message:
            self._fail(str(message["stop"]), int(message.get("code", 3)), source=index)
        elif "bye" in message:
            link.left = True

    def _tell(self, **message: Any) -> None:
        """Send a message to every worker that this one is connected to."""
        for link in list(self._links.values()):
            # A worker that cannot be reached is noticed by its silence.
            with contextlib.suppress(OSError):
                link.wire.send(**message)

    def _hear(self, index: int) -> Any:
        said = self._links[index].inbox.get()
        self._check()
        return said

    def _check(self) -> None:
        if self._verdict:
            raise self._verdict

    @contextlib.contextmanager
    def _listening(self) -> Any:
        """Let a verdict be raised in this thread, which uses `_hear` or `_check`."""
        with self._change:
            self._check()
            self._listens = True
        try:
            yield
        finally:
            with self._change:
                self._listens = False

    # Watching.

    def _beat(self) -> None:
        """Send signs of life; on the chief, also look for workers that others wait for."""
        while not self._closed.wait(min(TICK, self.timeout / 4)):
            self._tell(beat=self._state)
            if self.cluster.is_chief:
                # A worker may connect at any moment.
                links = list(self._links.items())
                states = {0: self._state} | {i: link.state for i, link in links}
                for line in self._pace.warnings(states, time.monotonic()):
                    self._log(f"WARNING: {line}")
                if stuck := self._pace.stuck(states, time.monotonic()):
                    self._fail(f"{stuck}; {_WAY_ON}")

    def _fail(self, sentence: str, code: int = 3, source: int | None = None) -> None:
        """Let all workers end with a sentence; only the first call counts."""
        with self._change:
            if self._verdict or self._closed.is_set():
                return
            self._verdict = LostWorkerError(sentence, code)
            listens = self._listens
            self._change.notify_all()
        for index, link in list(self._links.items()):
            if index != source:
                with contextlib.suppress(OSError):
                    link.wire.send(stop=sentence, code=code)
            link.inbox.put(None)
        if not listens:
            self._end(self._verdict)

    def _await_verdict(self) -> LostWorkerError | None:
        """Wait as long as it takes to notice that a worker is gone; return its error, if any."""
        with self._listening(), self._change:
            self._change.wait_for(lambda: self._verdict is not None, self.timeout + 5 * TICK)
        return self._verdict


def _is_of_tensorflow(error: BaseException) -> bool:
    # Without importing TensorFlow, which the watch does not need.
    return any(kind.__name__ == "OpError" for kind in type(error).__mro__)


def _sentence(error: BaseException) -> str:
    """Return the sentence that the others are told about an error."""
    lines = str(error).splitlines() or [""]
    if isinstance(error, UserError):
        return " ".join(line.strip() for line in lines)
    return f"{type(error).__name__} {lines[0]}".strip()
