"""Raw files by name, found in a folder or downloaded to it; their checksums are verified."""

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
TIMEOUT = 60.0  # seconds without data


def fetch(
    url: str,
    folder: pathlib.Path,
    *,
    sha256: str,
    log: Callable[[str], None] = print,
    pause: float = 2.0,
) -> pathlib.Path:
    """Return the path in `folder` of the file that `url` ends in; downloads it if it is missing.

    Args:
        url: address of the file.
        folder: where the file is, or is downloaded to.
        sha256: expected checksum.
        log: takes a line for each download and each failed attempt.
        pause: seconds before the second attempt; doubles with each further one.

    Raises:
        UserError: the checksum is wrong, the download fails four times, or the disk is full.
    """
    path = folder / url.rsplit("/", 1)[1]
    if path.is_file():
        _check(path, sha256, f"delete it, or replace it by {url}")
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
        raise UserError(f"{path} has the SHA-256 checksum {found}, not {sha256}: {remedy}")
