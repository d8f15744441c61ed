import fcntl
import functools
import hashlib
import http.server
import os
import threading

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.sources import download
from t2t_phrase.data.sources.download import ATTEMPTS, DownloadError, fetch
from t2t_phrase.io import locks

CONTENT = b"parallel text" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class _Handler(http.server.BaseHTTPRequestHandler):
    """Has one fault for each request, in order; then none."""

    def __init__(self, faults, *args):
        self.faults = faults
        super().__init__(*args)

    def do_GET(self):
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, int):
            self.send_error(fault)
            return
        start = 0
        asked = self.headers["Range"]
        if asked and fault != "no ranges":
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(CONTENT):
                self.send_error(416)
                return
            self.send_response(206)
            shown = 7 if fault == "other range" else start
            self.send_header("Content-Range", f"bytes {shown}-{len(CONTENT) - 1}/{len(CONTENT)}")
        else:
            self.send_response(200)
        body = CONTENT[start:]
        length = len(body) + (5 if fault == "wrong length" else 0)
        if fault != "no length":
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body[:4000] if fault in ("cut", "reset") else body)
        if fault == "reset":
            # Closing a socket with unread data, or lingering for no time, resets the connection.
            linger = bytes([1, 0, 0, 0, 0, 0, 0, 0])
            self.wfile.flush()
            self.connection.setsockopt(1, 13, linger)  # SOL_SOCKET, SO_LINGER
            self.connection.close()
        self.close_connection = True

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    faults = []
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, faults))
    thread = threading.Thread(target=functools.partial(httpd.serve_forever, poll_interval=0.01))
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}/train.en.gz", faults
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def get(url, folder, messages=None, **options):
    log = (lambda line: None) if messages is None else messages.append
    return fetch(url, folder, **{"sha256": SHA256, "log": log, "pause": 0.0, **options})


@pytest.mark.parametrize(
    ("given", "tries", "kept"),
    [
        ([], 1, 0),
        (["no length"], 1, 0),
        ([503, 429], 3, 0),
        (["cut"], 2, 1),
        (["cut", "cut", "cut"], 4, 3),
        (["cut", "no ranges"], 2, 1),
        (["cut", "other range"], 3, 1),
        (["cut", 500, "cut", None], 4, 3),
        # Everything is there, but the server has promised more.
        (["wrong length"], 2, 1),
    ],
    ids=str,
)
def test_retries_until_the_file_is_whole(server, tmp_path, given, tries, kept):
    url, faults = server
    faults += given
    messages = []
    path = get(url, tmp_path / "new", messages)
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["train.en.gz"]
    assert sum(message.startswith(f"downloading {url}") for message in messages) == tries
    assert sum("failed" in message for message in messages) == tries - 1
    assert sum("continuing after" in message for message in messages) == kept


def test_a_reset_is_blamed_on_the_network(server, tmp_path):
    url, faults = server
    faults += ["reset"] * ATTEMPTS
    with pytest.raises(DownloadError, match=f"cannot download {url}: .*, 4 times; ") as caught:
        get(url, tmp_path)
    assert caught.value.exit_code == 3
    assert "cannot write" not in str(caught.value)


def test_the_next_run_goes_on(server, tmp_path):
    url, faults = server
    faults += ["cut", 500, 500, 500]
    with pytest.raises(DownloadError, match="4,000 bytes are kept, and the same command continues"):
        get(url, tmp_path)
    assert (tmp_path / "train.en.gz.part").read_bytes() == CONTENT[:4000]
    messages = []
    assert get(url, tmp_path, messages).read_bytes() == CONTENT
    assert "continuing after 0.0 MiB" in messages[0] and len(messages) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["train.en.gz"]


@pytest.mark.parametrize("kept", [CONTENT[:10] + b"!", CONTENT + b"!", b"x" * len(CONTENT)])
def test_what_was_kept_of_another_file_is_dropped(server, tmp_path, kept):
    url, _ = server
    (tmp_path / "train.en.gz.part").write_bytes(kept)
    assert get(url, tmp_path).read_bytes() == CONTENT


def test_all_of_it_was_kept(server, tmp_path):
    url, _ = server
    (tmp_path / "train.en.gz.part").write_bytes(CONTENT)
    messages = []
    assert get(url, tmp_path, messages).read_bytes() == CONTENT
    assert len(messages) == 1


def test_gives_up_and_says_what_to_do(server, tmp_path):
    url, faults = server
    faults += [503] * ATTEMPTS
    with pytest.raises(DownloadError, match=f"cannot download .*503.*put the file into {tmp_path}"):
        get(url, tmp_path)
    assert not faults
    assert not list(tmp_path.iterdir())


def test_a_file_that_does_not_exist_is_asked_for_once(server, tmp_path):
    url, faults = server
    faults += [404, None]
    with pytest.raises(DownloadError, match=f"cannot download {url}: HTTP 404 Not Found; if"):
        get(url, tmp_path)
    assert faults == [None]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "http://[/x", "nonsense/x"])
def test_no_server_and_no_address(tmp_path, url):
    with pytest.raises(DownloadError, match="cannot download"):
        get(url, tmp_path)
    assert not list(tmp_path.iterdir())


def test_long_downloads_may_be_interrupted_often(server, tmp_path, monkeypatch):
    url, faults = server
    monkeypatch.setattr(download, "_MIB", 1000)
    faults += ["cut", "cut", "cut", 500, 500, 500]
    monkeypatch.setattr(download, "ATTEMPTS", 5)
    assert get(url, tmp_path).read_bytes() == CONTENT
    assert not faults


def test_progress_is_reported(server, tmp_path, monkeypatch):
    url, _ = server
    times = iter(range(0, 1000, 11))
    monkeypatch.setattr(download.time, "monotonic", lambda: next(times))
    messages = []
    get(url, tmp_path, messages)
    assert messages[1] == "  0.0 of 0.0 MiB of train.en.gz"


def test_another_content_is_refused_and_not_kept(server, tmp_path):
    url, _ = server
    with pytest.raises(UserError, match=f"has the SHA-256 checksum {SHA256}, not 00") as caught:
        get(url, tmp_path, sha256="00")
    assert caught.value.exit_code == 2
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_there_is_checked_and_used(tmp_path):
    (tmp_path / "other").write_bytes(CONTENT)
    url = "http://127.0.0.1:9/train.en.gz"
    assert get(url, tmp_path, name="other") == tmp_path / "other"
    with pytest.raises(UserError, match="delete it"):
        get(url, tmp_path, name="other", sha256="00")


def test_a_full_disk_is_not_blamed_on_the_network(server, tmp_path):
    url, _ = server
    (tmp_path / "train.en.gz.part").symlink_to("/dev/full")
    with pytest.raises(UserError, match=r"no space left while writing .*part") as caught:
        get(url, tmp_path)
    assert caught.value.exit_code == 3 and not isinstance(caught.value, DownloadError)


def test_two_processes_do_not_meet(tmp_path):
    with open(tmp_path / "x.part", "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=f"another process is downloading {tmp_path / 'x'}"):
            get("http://127.0.0.1:9/x", tmp_path)


def test_a_file_that_another_process_has_just_finished_is_used(tmp_path, monkeypatch):
    open_locked = locks.open_locked

    def open_late(path, **options):
        (tmp_path / "x").write_bytes(CONTENT)
        return open_locked(path, **options)

    monkeypatch.setattr(locks, "open_locked", open_late)
    assert get("http://127.0.0.1:9/x", tmp_path) == tmp_path / "x"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_file_that_another_process_begins_then_is_left_alone(server, tmp_path, monkeypatch):
    def replace(source, target):
        usual(source, target)
        source.touch()

    url, _ = server
    usual = os.replace
    monkeypatch.setattr(os, "replace", replace)
    get(url, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"train.en.gz", "train.en.gz.part"}
