"""Raw files by name, found in a folder or downloaded to it; their checksums are verified.

Received bytes are kept in `NAME.part`, from which the next attempt or run resumes.
"""

from __future__ import annotations

import dataclasses
import http.client
import io
import os
import pathlib
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.inputs import checksum
from t2t_phrase.io import locks
from t2t_phrase.io.files import explain_os_error

ATTEMPTS = 4  # in a row, without progress in between
TIMEOUT = 60.0  # seconds without data
_BLOCK = 2**18
_MIB = 2**20
_PERMANENT = range(400, 500)
_TRANSIENT = (408, 425, 429)


class DownloadError(UserError):
    """A file could not be downloaded; the message names its address and the reason."""

    exit_code = 3


class _Interrupted(Exception):
    """The network or the server failed; another attempt may succeed."""


def fetch(
    url: str,
    folder: pathlib.Path,
    *,
    sha256: str,
    name: str = "",
    log: Callable[[str], None] = print,
    pause: float = 2.0,
) -> pathlib.Path:
    """Return the path of a file in `folder`; download it if it is missing.

    Args:
        url: address of the file.
        folder: where the file is, or is downloaded to.
        sha256: expected checksum.
        name: name of the file; default: the last part of `url`.
        log: takes a line for each download, every few seconds, and for each failed attempt.
        pause: seconds before the second attempt, doubled for each further one.

    Raises:
        DownloadError: the download fails four times in a row, or the file does not exist.
        UserError: the checksum is wrong, or another process downloads the same file.
        WriteError: the disk is full, or the folder is not writable.
    """
    path = folder / (name or url.rsplit("/", 1)[1])
    if path.is_file():
        return _checked(path, url, sha256)
    part = path.with_name(f"{path.name}.part")
    busy = f"another process is downloading {path}; wait until it has finished"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        locked = locks.open_locked(part, append=True, busy=busy)
    except OSError as error:
        raise explain_os_error(error, part) from error
    with open(locked, "ab", buffering=0) as file:
        try:
            # Another process may have finished before the file was locked.
            if path.is_file():
                return _checked(path, url, sha256)
            _Download(url, sha256, part, file, log).run(pause)
            os.fsync(file.fileno())
            os.replace(part, path)
        except OSError as error:
            if isinstance(error, UserError):
                raise
            raise explain_os_error(error, part) from error
        finally:
            # Once this one is finished, a file of that name is another process's.
            if part.is_file() and not os.fstat(file.fileno()).st_size:
                part.unlink(missing_ok=True)
    return path


def _checked(path: pathlib.Path, url: str, sha256: str) -> pathlib.Path:
    found = checksum(path)
    if found != sha256:
        raise UserError(
            f"{path} has the SHA-256 checksum {found}, not {sha256}: delete it, or replace it "
            f"with {url}"
        )
    return path


@dataclasses.dataclass
class _Download:
    """One file that is being received.

    Args:
        url: its address.
        sha256: expected checksum.
        part: the file that holds what has been received.
        file: the same, opened for appending without a buffer.
        log: takes one line of progress.
    """

    url: str
    sha256: str
    part: pathlib.Path
    file: io.FileIO
    log: Callable[[str], None]

    def run(self, pause: float) -> None:
        """Receive everything, resuming after interruptions."""
        failures = 0
        while True:
            before = self._size()
            kept = f", continuing after {before / _MIB:.1f} MiB" if before else ""
            self.log(f"downloading {self.url}{kept}")
            try:
                self._receive()
                self._check(resumed=before > 0)
                return
            except _Interrupted as error:
                # Long downloads may be interrupted any number of times if they make progress.
                failures = 1 if self._size() >= before + _MIB else failures + 1
                if failures == ATTEMPTS:
                    raise self._failed(f"{error}, {ATTEMPTS} times") from error
                self.log(f"attempt {failures} of {ATTEMPTS} failed ({error}); trying again")
                time.sleep(pause * 2 ** (failures - 1))

    def _check(self, *, resumed: bool) -> None:
        found = checksum(self.part)
        if found == self.sha256:
            return
        self._start_afresh()
        if resumed:
            raise _Interrupted("the part kept from an earlier attempt does not fit the rest")
        raise UserError(
            f"{self.url} has the SHA-256 checksum {found}, not {self.sha256}: the server now "
            f"has a different file; put the right one into {self.part.parent} by hand"
        )

    def _receive(self) -> None:
        response = self._open()
        if response is None:
            return
        with response:
            start = self._size()
            if response.status == http.client.PARTIAL_CONTENT:
                found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
                if found is None or int(found[1]) != start:
                    self._start_afresh()
                    raise _Interrupted("the server sent the wrong part of the file")
            elif start:
                # The server does not support ranges, and sends the whole file.
                self._start_afresh()
                start = 0
            length = response.headers.get("Content-Length", "")
            total = start + int(length) if length.isdecimal() else 0
            self._copy(response, total)
        if total and self._size() != total:
            raise _Interrupted(f"the connection ended after {self._size():,} of {total:,} bytes")

    def _open(self) -> Any:
        """Return the response; None if the server has nothing more to send."""
        start = self._size()
        try:
            request = urllib.request.Request(self.url, headers={"Accept-Encoding": "identity"})
            if start:
                request.add_header("Range", f"bytes={start}-")
            return urllib.request.urlopen(request, timeout=TIMEOUT)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and start:
                    # The file is complete, or the server has a shorter one: the checksum tells.
                    return None
                if error.code in _PERMANENT and error.code not in _TRANSIENT:
                    raise self._failed(f"HTTP {error.code} {error.reason}") from error
                raise _Interrupted(f"HTTP {error.code} {error.reason}") from error
        except urllib.error.URLError as error:
            raise _Interrupted(str(error.reason)) from error
        except (http.client.HTTPException, OSError) as error:
            raise _Interrupted(str(error) or type(error).__name__) from error
        except ValueError as error:
            raise self._failed(str(error)) from error

    def _copy(self, response: Any, total: int) -> None:
        last = time.monotonic()
        while True:
            try:
                block = response.read(_BLOCK)
            except (http.client.HTTPException, OSError, ValueError) as error:
                raise _Interrupted(str(error) or type(error).__name__) from error
            if not block:
                return
            try:
                self._write(block)
            except OSError as error:
                raise explain_os_error(error, self.part) from error
            if time.monotonic() - last >= 10:
                last = time.monotonic()
                of_total = f" of {total / _MIB:,.1f}" if total else ""
                self.log(f"  {self._size() / _MIB:,.1f}{of_total} MiB of {self.part.stem}")

    def _write(self, block: bytes) -> None:
        left = memoryview(block)
        while left:
            left = left[self.file.write(left) :]

    def _size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def _start_afresh(self) -> None:
        self.file.truncate(0)

    def _failed(self, reason: str) -> DownloadError:
        kept = ""
        if size := self._size():
            kept = f"; {size:,} bytes are kept, and the same command continues from there"
        return DownloadError(
            f"cannot download {self.url}: {reason}{kept}; if this persists, put the file "
            f"into {self.part.parent} by hand"
        )
