"""TensorFlow Serving answers the requests of the documentation as t2t-phrase-serve does."""

import pathlib
import shutil
import socket
import subprocess

import pytest
from running_server import ask, predict, reachable, running, wait_until
from toy_run import make_toy_run

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.export.saved_model import export
from t2t_phrase.serving.hparams import ServingHParams
from t2t_phrase.serving.service import watched_exports

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/tensorflow_serving"
WRONG = [
    b"",
    b"{]",
    b"[]",
    b'{"instances": []}',
    b'{"instances": [3]}',
    b'{"instances": [{"txt": "a"}]}',
    b'{"instances": ["a"], "inputs": ["a"]}',
    b'{"instances": ["a"], "signature_name": "other"}',
    b'{"instances": [{"b64": "*"}]}',
    rb'{"instances": ["\ud800"]}',
]


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("tensorflow_model_server") is None, reason="TensorFlow Serving is not installed"
)
def test_tensorflow_serving_answers_the_same(tmp_path):
    toy = make_toy_run(tmp_path / "toy")
    exports = tmp_path / "toy" / "export"
    options = DecodeHParams().override("beam_size=3,extra_length=4")
    export(toy.model, toy.vocabularies, options, exports)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    theirs = subprocess.Popen(
        [
            "tensorflow_model_server",
            f"--rest_api_port={port}",
            "--port=0",
            "--model_name=toy",
            f"--model_base_path={exports}",
            "--enable_batching",
            f"--batching_parameters_file={EXAMPLES / 'batching.txt'}",
        ]
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: reachable(url) and ask(url, "/v1/models/toy").status == 200)
        with running(watched_exports(exports, ServingHParams())) as server:
            for path in EXAMPLES.glob("*.json"):
                own, other = (predict(place, path.read_bytes()) for place in (server.url, url))
                assert own.status == other.status == 200
                assert simple(own.body) == simple(other.body), path
            for body in WRONG:
                own, other = (predict(place, body) for place in (server.url, url))
                assert own.status == other.status == 400 and other.body.keys() == {"error"}, body
            for path in ("/v1/models/toy", "/v1/models/other", "/v1/models/toy/versions/9"):
                own, other = (ask(place, path) for place in (server.url, url))
                assert own.status == other.status, path
            own, other = (ask(place, "/v1/models/toy").body for place in (server.url, url))
            assert own == other
    finally:
        theirs.terminate()
        theirs.wait(60)


def simple(body):
    """Return an answer with rounded numbers."""
    if isinstance(body, dict):
        return {name: simple(value) for name, value in body.items()}
    if isinstance(body, list):
        return [simple(value) for value in body]
    return round(body, 3) if isinstance(body, float) else body
