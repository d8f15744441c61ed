import functools
import hashlib
import http.server
import threading

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.download import ATTEMPTS, fetch

CONTENT = b"parallel text" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class _Handler(http.server.BaseHTTPRequestHandler):
    def __init__(self, faults, *args):
        self.faults = faults
        super().__init__(*args)

    def do_GET(self):
        fault = self.faults.pop(0) if self.faults else None
        if fault == "error":
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT[:100] if fault == "cut" else CONTENT)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    faults = []
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, faults))
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}/train.en.gz", faults
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def test_retries_until_the_file_is_whole(server, tmp_path):
    url, faults = server
    faults += ["error", "cut"]
    messages = []
    path = fetch(url, tmp_path / "new", sha256=SHA256, log=messages.append, pause=0.0)
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["train.en.gz"]
    assert sum("failed" in message for message in messages) == 2


def test_gives_up_and_says_what_to_do(server, tmp_path):
    url, faults = server
    faults += ["error"] * ATTEMPTS
    with pytest.raises(UserError, match=f"cannot download .*503.*put the file into {tmp_path}"):
        fetch(url, tmp_path, sha256=SHA256, log=lambda line: None, pause=0.0)
    assert not faults
    assert not list(tmp_path.iterdir())


def test_another_content_is_refused_and_not_kept(server, tmp_path):
    url, _ = server
    with pytest.raises(UserError, match=f"has the SHA-256 checksum {SHA256}, not 00"):
        fetch(url, tmp_path, sha256="00", log=lambda line: None)
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_there_is_checked_and_used(tmp_path):
    (tmp_path / "train.en.gz").write_bytes(CONTENT)
    url = "http://127.0.0.1:9/train.en.gz"
    assert fetch(url, tmp_path, sha256=SHA256) == tmp_path / "train.en.gz"
    with pytest.raises(UserError, match="delete it"):
        fetch(url, tmp_path, sha256="00")
