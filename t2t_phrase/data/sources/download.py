"""Raw files by name: found in a folder, or downloaded there; checked either way."""

from __future__ import annotations

import http.client
import pathlib
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable

from t2t_phrase.config import UserError
from t2t_phrase.files import atomic, explain_os_error, sha256_of

ATTEMPTS = 4
TIMEOUT = 60.0  # seconds without a byte


def fetch(
    url: str,
    folder: pathlib.Path,
    *,
    sha256: str,
    log: Callable[[str], None] = print,
    pause: float = 2.0,
) -> pathlib.Path:
    """Return the path of the file called as the end of `url` in `folder`, downloaded if absent.

    Args:
        url: where the file is to be had.
        folder: where it lies or is put; only written to if the file is absent.
        sha256: checksum the file must have.
        log: takes a line for each download and each failed attempt.
        pause: seconds before the second attempt; doubles with each further one.

    Raises:
        UserError: the checksum differs, the download fails four times, or the disk is full.
    """
    path = folder / url.rsplit("/", 1)[1]
    if path.is_file():
        _check(path, sha256, f"delete it, or put the file of {url} in its place")
        return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, folder) from error
    for attempt in range(1, ATTEMPTS + 1):
        try:
            log(f"downloading {url}")
            _download(url, path, sha256)
            return path
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError) as error:
            if attempt == ATTEMPTS:
                raise UserError(
                    f"cannot download {url} ({error}); put the file into {folder} by hand"
                ) from error
            log(f"attempt {attempt} of {ATTEMPTS} failed ({error}); trying again")
            time.sleep(pause * 2 ** (attempt - 1))
    raise AssertionError("unreachable")


def _download(url: str, path: pathlib.Path, sha256: str) -> None:
    with urllib.request.urlopen(url, timeout=TIMEOUT) as response, atomic(path) as temporary:
        with open(temporary, "wb") as file:
            try:
                shutil.copyfileobj(response, file)
            except (TimeoutError, ConnectionError) as error:
                # Not an error of writing: the download is tried again.
                raise http.client.HTTPException(str(error)) from error
        expected = response.headers["Content-Length"]
        if expected and temporary.stat().st_size != int(expected):
            raise http.client.IncompleteRead(b"", int(expected))
        _check(temporary, sha256, "the server now has a different file")


def _check(path: pathlib.Path, sha256: str, remedy: str) -> None:
    found = sha256_of(path)
    if found != sha256:
        raise UserError(f"{path} has the SHA-256 {found}, not {sha256}: {remedy}")
