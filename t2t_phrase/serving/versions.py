"""The version of a model that answers requests, possibly the latest in a watched folder."""

from __future__ import annotations

import contextlib
import pathlib
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from t2t_phrase.config import UserError
from t2t_phrase.serving.errors import RequestError
from t2t_phrase.serving.messages import note
from t2t_phrase.serving.servable import Servable

AVAILABLE, LOADING, END = "AVAILABLE", "LOADING", "END"


class State(NamedTuple):
    """The state of a version, in TensorFlow Serving's terms.

    Attributes:
        state: LOADING, AVAILABLE or END.
        error: why the version could not be loaded; empty: no error.
    """

    state: str
    error: str = ""


class Versions(Protocol):
    """The versions of a model."""

    current: Servable

    def states(self) -> Mapping[int, State]:
        """Return the state of each version that the server has seen."""

    def stop(self) -> None:
        """Load no further version."""


class OneVersion:
    """A model that does not change, such as that of a run.

    Args:
        servable: the model.
    """

    def __init__(self, servable: Servable) -> None:
        self.current = servable

    def states(self) -> Mapping[int, State]:
        """Return the state of the only version."""
        return {self.current.version: State(AVAILABLE)}

    def stop(self) -> None:
        """Do nothing."""


class WatchedVersions:
    """The latest version in a folder; a newer one takes its place once it is loaded.

    So does one of the same number with other files. A version that cannot be loaded is reported
    once, and tried again when its files change. Until then, and while a version is loaded, the
    current one stays.

    Args:
        folder: the folder of versions, each a folder named after its number.
        load: loads a version.

    Attributes:
        current: the version that answers requests.

    Raises:
        UserError: there is no version that can be loaded.
    """

    def __init__(
        self,
        folder: pathlib.Path,
        load: Callable[[pathlib.Path], Servable],
    ) -> None:
        self._folder, self._load = folder, load
        self._damaged: dict[int, tuple[Any, ...]] = {}
        self._served: tuple[Any, ...] = ()
        self._states: dict[int, State] = {}
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        numbers = numbered(folder)
        if not numbers:
            raise UserError(
                f"--export_dir={folder} holds no exported version; export one with "
                "t2t-phrase-exporter"
            )
        self.current: Servable
        for number in sorted(numbers, reverse=True):
            if self._try(number):
                return
        raise UserError(f"--export_dir={folder}: {self._states[max(numbers)].error}")

    def states(self) -> Mapping[int, State]:
        """Return the state of each version that the server has seen."""
        return dict(self._states)

    def watch(self, seconds: float) -> None:
        """Look for changes in the folder at intervals of `seconds`, in a thread."""

        def loop() -> None:
            while not self._stopped.wait(seconds):
                self.look()

        self._thread = threading.Thread(target=loop, name="versions", daemon=True)
        self._thread.start()

    def look(self) -> None:
        """Load the latest version if it is not the current one and can be loaded."""
        for number in sorted(numbered(self._folder), reverse=True):
            if self._is_current(number) or self._try(number):
                return

    def _is_current(self, number: int) -> bool:
        """Return whether a version is served, from the files that its folder has now, if any."""
        if number != self.current.version:
            return False
        return _fingerprint(self._folder / str(number)) in ((), self._served)

    def stop(self) -> None:
        """Load no further version; wait for one that is being loaded, which does not take over."""
        self._stopped.set()
        # TensorFlow aborts the process if it ends while a thread is loading.
        if self._thread is not None:
            self._thread.join()

    def _try(self, number: int) -> bool:
        """Load a version and let it take over; return whether it could be loaded."""
        place = self._folder / str(number)
        files = _fingerprint(place)
        if self._damaged.get(number) == files:
            return False
        old = getattr(self, "current", None)
        replaces = old is not None and old.version == number
        if not replaces:
            self._states[number] = State(LOADING)
        try:
            servable = self._load(place)
        # A version that fails in any way must not end the thread.
        except Exception as error:
            self._damaged[number] = files
            self._states[number] = State(AVAILABLE if replaces else END, str(error))
            stays = f"; version {old.version} stays in use" if old else ""
            note(f"version {number} cannot be loaded{stays}: {error}")
            return False
        if self._stopped.is_set():
            return True
        self.current, self._served = servable, files
        if old is not None:
            self._states[old.version] = State(END)
        self._states[number] = State(AVAILABLE)
        note(f"version {number} of {self._folder} is served")
        return True


def numbered(folder: pathlib.Path) -> list[int]:
    """Return the numbers of the versions in a folder; none if it cannot be read."""
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError:
        return []
    # "01" would be loaded from a folder of another name.
    return [int(name) for name in names if name.isdecimal() and name == str(int(name))]


def find_version(versions: Versions, name: str, version: str | None) -> Servable:
    """Return the version that a request asks for.

    Args:
        versions: the versions of the model.
        name: the name of the model, for messages.
        version: the number of the version as text; None: the current one.

    Raises:
        RequestError: 404, there is no such version.
    """
    servable = versions.current
    if version is None or version == str(servable.version):
        return servable
    raise RequestError(
        404,
        f"Servable not found for request: Specific({name}, {version[:40]}); the version served is "
        f"{servable.version}",
    )


def status_of(versions: Versions, name: str, version: str | None) -> dict[str, Any]:
    """Return the states of one or all versions as TensorFlow Serving writes them.

    Raises:
        RequestError: 404, there is no such version.
    """
    states = {str(number): state for number, state in versions.states().items()}
    if version is not None and version not in states:
        raise RequestError(404, f"Could not find version {version[:40]} of model {name}")
    shown = sorted(states, key=int, reverse=True) if version is None else [version]
    return {
        "model_version_status": [
            {
                "version": number,
                "state": states[number].state,
                "status": {
                    "error_code": "UNKNOWN" if states[number].error else "OK",
                    "error_message": states[number].error,
                },
            }
            for number in shown
        ]
    }


def _fingerprint(folder: pathlib.Path) -> tuple[Any, ...]:
    """Return a value that changes when the files of a version do."""
    found = []
    # A version may be deleted at any moment.
    with contextlib.suppress(OSError):
        for path in sorted(folder.rglob("*")):
            with contextlib.suppress(OSError):
                facts = path.stat()
                found.append((str(path), facts.st_ino, facts.st_size, facts.st_mtime_ns))
    return tuple(found)
