"""The server as clients meet it, with a model that needs no TensorFlow."""

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from running_server import (
    PATIENCE,
    Gate,
    ask,
    metric,
    predict,
    raw,
    reachable,
    running,
    toy_servable,
    upper,
    wait_until,
)

from t2t_phrase.config import UserError
from t2t_phrase.serving.errors import RequestError
from t2t_phrase.serving.hparams import ServingHParams
from t2t_phrase.serving.server import TranslationServer, bind
from t2t_phrase.serving.versions import OneVersion, WatchedVersions


@pytest.fixture(scope="module")
def url():
    with running(max_body=10_000, max_queue=50) as server:
        yield server.url


def row(text):
    return {"translation": text.upper(), "score": float(len(text.encode()))}


def test_predictions(url):
    answer = predict(url, {"instances": [{"text": "ein haus"}, {"text": ""}, {"text": "a\0ü"}]})
    assert answer.status == 200
    assert answer.body == {
        "predictions": [
            row("ein haus"),
            row(""),
            # As bytes, which is how the toy treats text.
            {"translation": "A\0ü", "score": 4.0},
        ]
    }
    for path in ("/v1/models/toy:predict", "/v1/models/toy/versions/1:predict"):
        assert ask(url, path, {"inputs": ["a", "b"]}).body == {
            "outputs": {"translation": ["A", "B"], "score": [1.0, 1.0]}
        }
    pairs = {"source": ["a", "b"], "target": ["", "long"]}
    answer = predict(url, {"signature_name": "score", "inputs": pairs})
    assert answer.body == {"outputs": [0.0, -4.0]}
    answer = predict(url, {"inputs": {"text": []}})
    assert answer.body == {"outputs": {"translation": [], "score": []}}


def test_the_address_is_said_when_it_can_be_used(monkeypatch):
    said = []

    def note(text):
        url = text.split()[-1]
        said.append((text, url.startswith("http") and reachable(url)))

    monkeypatch.setattr("t2t_phrase.serving.server.note", note)
    with running() as server:
        wait_until(lambda: bool(said))
        assert said[0] == (f"toy, version 1: {server.url}", True)


def test_status_and_metadata(url):
    status = {
        "model_version_status": [
            {
                "version": "1",
                "state": "AVAILABLE",
                "status": {"error_code": "OK", "error_message": ""},
            }
        ]
    }
    metadata = ask(url, "/v1/models/toy/metadata").body
    assert metadata["model_spec"] == {"name": "toy", "signature_name": "", "version": "1"}
    signatures = metadata["metadata"]["signature_def"]["signature_def"]
    assert signatures["score"] == {
        "inputs": {
            name: {
                "dtype": "DT_STRING",
                "tensor_shape": {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False},
                "name": f"score_{name}:0",
            }
            for name in ("source", "target")
        },
        "outputs": {
            "log_probability": {
                "dtype": "DT_FLOAT",
                "tensor_shape": {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False},
                "name": "score_log_probability:0",
            }
        },
        "method_name": "tensorflow/serving/predict",
    }
    for place in ("/v1/models/toy", "/v1/models/toy/versions/1"):
        assert ask(url, place).body == status
        assert ask(url, place).headers["content-type"] == "application/json"
    assert ask(url, "/v1/models/toy/versions/1/metadata").body == metadata


WRONG = [
    (b"", 400, "the body is empty"),
    (b"{]", 400, "the body is not valid JSON"),
    (b"\xff\xfe\0", 400, "not valid UTF-8"),
    (b"[" * 9_999, 400, "nested too deeply"),
    (rb'{"instances": [{"text": "\ud800 a"}]}', 400, "\\ud800 alone is only half of a character"),
    ({"instances": [3]}, 400, "instances[0] must be a string"),
    ({"instances": [{"b64": "*"}]}, 400, "not valid base64"),
    ({"instances": ["a"], "signature_name": "scores"}, 400, "did you mean score?"),
    ({"instances": ["a"] * 51}, 413, "51 sentences; send at most 50"),
    (b" " * 10_001, 413, "more than 10000 bytes"),
    (b" " * 1_000_000, 413, "more than 10000 bytes"),
]


@pytest.mark.parametrize("body, status, message", WRONG, ids=[m for _, _, m in WRONG])
def test_wrong_bodies_are_answered_by_one_clear_error(url, body, status, message):
    answer = predict(url, body)
    assert answer.status == status and answer.body.keys() == {"error"}
    assert message in answer.body["error"]


@pytest.mark.parametrize(
    "path, body, status, message",
    [
        ("/v1/models/enfr:predict", {"instances": ["a"]}, 404, "Latest(enfr); the model served is"),
        ("/v1/models/toy/versions/2:predict", {"inputs": ["a"]}, 404, "Specific(toy, 2)"),
        ("/v1/models/toy/versions/x:predict", {"inputs": ["a"]}, 404, "Specific(toy, x)"),
        ("/v1/models/enfr", None, 404, "Latest(enfr)"),
        ("/v1/models/toy/versions/2", None, 404, "version 2 of model toy"),
        ("/v1/models/toy/versions/2/metadata", None, 404, "Specific(toy, 2)"),
        ("/v1/models/toy:classify", {"examples": []}, 405, "Malformed request: POST /v1/models/"),
        ("/v1/models/toy:predict", None, 400, "Malformed request: toy:predict; "),
        ("/%00%ff/../etc/passwd", None, 404, "Malformed request: GET /"),
    ],
)
def test_wrong_addresses(url, path, body, status, message):
    answer = ask(url, path, body)
    assert answer.status == status and message in answer.body["error"]


@pytest.mark.parametrize(
    "sent, expected",
    [
        (b"\r\n\r\nnonsense\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 50_000, b"HTTP/1.1 400 "),
        (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", b"HTTP/1.1 400 "),
        (b"POST /v1/models/toy:predict HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", b" 400 "),
        (
            b"POST /v1/models/toy:predict HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n"
            b"Expect: 100-continue\r\n\r\n",
            b" 413 ",
        ),
    ],
    ids=["words", "headers", "tls", "length", "announced"],
)
def test_what_is_no_request_of_http(url, sent, expected):
    received = raw(url, sent)
    assert received.count(b"HTTP/1.1 ") == 1 and expected in received.split(b"\r\n")[0] + b" "


def test_a_body_may_be_as_large_as_the_limit(url):
    answer = predict(url, b'{"instances": ["a"]}'.ljust(10_000))
    assert answer.body == {"predictions": [row("a")]}


def test_a_chunked_body_is_limited_too(url):
    head = b"POST /v1/models/toy:predict HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"2710\r\n" + b" " * 10_000 + b"\r\n"
    received = raw(url, head, chunk, chunk, b"0\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 413 ") and b"\r\nconnection: close\r\n" in received


def test_state_and_pages(url):
    assert ask(url, "/healthz").body == {"status": "ok"}
    assert ask(url, "/readyz").body == {"status": "ready"}
    page = ask(url, "/")
    assert page.status == 200 and b'content="toy"' in page.body
    schema = ask(url, "/openapi.json").body
    posts = [path for path, methods in schema["paths"].items() if "post" in methods]
    assert posts == ["/v1/models/{name}:predict", "/v1/models/{name}/versions/{version}:predict"]


def test_the_page_of_the_interface_needs_no_network(url):
    page = ask(url, "/docs").body.decode()
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert loaded and all(place.startswith("/") for place in loaded)
    for place in loaded:
        assert ask(url, place).status == 200


def test_metrics():
    with running() as server:
        predict(server.url, {"instances": ["a b", "c"]})
        predict(
            server.url, {"signature_name": "score", "inputs": {"source": ["a"], "target": [""]}}
        )
        predict(server.url, {"instances": 3})
        expected = {
            't2t_phrase_requests_total{signature="serving_default",status="200"}': 1.0,
            't2t_phrase_requests_total{signature="",status="400"}': 1.0,
            't2t_phrase_latency_seconds_count{signature="score"}': 1.0,
            "t2t_phrase_sentences_total": 3.0,
            "t2t_phrase_tokens_total": 3.0,
            "t2t_phrase_queue_sentences": 0.0,
            "t2t_phrase_version": 1.0,
        }
        # The last one is counted after its answer has been sent.
        wait_until(lambda: metric(server.url, "t2t_phrase_batch_sentences_count") == 2)
        text = ask(server.url, "/metrics").body.decode()
        for name, value in expected.items():
            assert f"\n{name} {value}\n" in text, name
        # Errors are not among the latencies.
        assert 't2t_phrase_latency_seconds_count{signature=""}' not in text
        assert metric(server.url, "t2t_phrase_connections") >= 1


def test_requests_are_joined_and_sorted():
    gate = Gate()
    with (
        running(toy_servable(run=gate), workers=1, max_batch_size=3) as server,
        ThreadPoolExecutor(8) as pool,
    ):
        first = pool.submit(predict, server.url, {"instances": ["0"]})
        wait_until(lambda: gate.batches == [["0"]])
        texts = ["xxxx", "x", "xxx", "xx", "xxxxx"]
        others = [pool.submit(predict, server.url, {"instances": [text]}) for text in texts]
        wait_until(lambda: metric(server.url, "t2t_phrase_queue_sentences") == 5)
        gate.open.set()
        assert first.result().body == {"predictions": [row("0")]}
        for text, other in zip(texts, others, strict=True):
            assert other.result().body == {"predictions": [row(text)]}
    sizes = [len(batch) for batch in gate.batches]
    assert sum(sizes) == 6 and len(sizes) <= 4
    for batch in gate.batches:
        assert batch == sorted(batch, key=len)


def test_a_full_queue_is_answered():
    gate = Gate()
    with running(toy_servable(run=gate), workers=1, max_queue=2, timeout=PATIENCE) as server:
        with ThreadPoolExecutor(8) as pool:
            first = pool.submit(predict, server.url, {"instances": ["0"]})
            wait_until(lambda: len(gate.batches) == 1)
            waiting = pool.submit(predict, server.url, {"instances": ["1", "2"]})
            wait_until(lambda: metric(server.url, "t2t_phrase_queue_sentences") == 2)
            full = predict(server.url, {"instances": ["3"]})
            assert full.status == 429 and "2 sentences are already waiting" in full.body["error"]
            assert int(full.headers["retry-after"]) >= 1
            gate.open.set()
        assert first.result().status == waiting.result().status == 200
    assert gate.batches == [["0"], ["1", "2"]]


def test_a_slow_search_is_answered():
    gate = Gate()
    with running(toy_servable(run=gate), workers=1, max_queue=2, timeout=0.4) as server:
        late = []

        def is_searched():
            late.append(predict(server.url, {"instances": ["0"]}))
            return bool(gate.batches)

        # The thread that searches may take as long to begin.
        wait_until(is_searched)
        late.append(predict(server.url, {"instances": ["1", "2"]}))
        for answer in late:
            assert answer.status == 504
            assert "did not end within 0.4 s" in answer.body["error"]
        gate.open.set()
        wait_until(
            lambda: predict(server.url, {"instances": ["4"]}).body == {"predictions": [row("4")]}
        )
    # Nobody waits any more for what had not begun.
    first, *others = gate.batches
    assert first == ["0"] and set(map(tuple, others)) == {("4",)}


def test_a_search_that_fails_fails_alone():
    def fails(columns):
        if b"bad" in columns[0]:
            raise RuntimeError("secret")
        return upper(columns)

    with running(toy_servable(run=fails)) as server, ThreadPoolExecutor(8) as pool:
        texts = ["a", "bad", "b", "bad", "c"]
        found = pool.map(lambda text: predict(server.url, {"instances": [text]}), texts)
        assert [answer.status for answer in found] == [200, 500, 200, 500, 200]
        answer = predict(server.url, {"instances": ["bad"]})
        assert answer.body == {"error": "the sentences could not be searched (RuntimeError)"}


def test_a_sentence_that_its_feature_does_not_fit_is_the_mistake_of_the_client(capsys):
    def checks(columns):
        if b"bad" in columns[0]:
            raise RequestError(400, "phrases must be the text with tabs")
        return upper(columns)

    with running(toy_servable(run=checks)) as server:
        answer = predict(server.url, {"instances": ["a", "bad", "b"]})
        assert answer.status == 400
        assert answer.body == {"error": "sentence 2: phrases must be the text with tabs"}
        assert predict(server.url, {"instances": ["a", "b"]}).status == 200
    assert "failed" not in capsys.readouterr().err


def test_a_new_version_takes_over_without_failing_a_request(tmp_path):
    def load(folder):
        time.sleep(0.05)
        if (folder / "damaged").exists():
            raise UserError(f"{folder} is damaged")
        version = int(folder.name)
        return toy_servable(
            version, lambda columns: {**upper(columns), "score": [float(version)] * len(columns[0])}
        )

    (tmp_path / "1").mkdir()
    versions = WatchedVersions(tmp_path, load)
    versions.watch(0.02)
    found, stop = [], threading.Event()

    def asking(url):
        while not stop.is_set():
            answer = predict(url, {"instances": ["a"]})
            found.append(answer.body["predictions"][0]["score"] if answer.status == 200 else answer)

    with running(versions) as server:
        threads = [threading.Thread(target=asking, args=(server.url,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in (2, 3):
            wait_until(lambda number=number: number - 1 in found[-5:])
            (tmp_path / str(number)).mkdir()
        (tmp_path / "new" / "damaged").mkdir(parents=True)
        (tmp_path / "new").rename(tmp_path / "4")
        wait_until(lambda: 3.0 in found[-5:])
        wait_until(lambda: "damaged" in str(ask(server.url, "/v1/models/toy/versions/4").body))
        stop.set()
        for thread in threads:
            thread.join(PATIENCE)
    assert set(found) == {1.0, 2.0, 3.0}


def test_addresses_that_cannot_be_used():
    taken = bind("127.0.0.1", 0)
    taken.listen()
    port = taken.getsockname()[1]
    with pytest.raises(UserError, match=f"--port={port}: Address already in use; give another"):
        bind("127.0.0.1", port)
    taken.close()
    with pytest.raises(UserError, match=r"--host=no\.such\.host\.invalid: is not an address"):
        bind("no.such.host.invalid", 0)
    with pytest.raises(UserError, match=r"--host=192\.0\.2\.1: "):
        bind("192.0.2.1", 0)


def test_of_two_servers_that_have_bound_a_port_one_listens():
    first = bind("127.0.0.1", 0)
    port = first.getsockname()[1]
    versions, hparams = OneVersion(toy_servable()), ServingHParams()
    late = TranslationServer("toy", versions, hparams, listener=bind("127.0.0.1", port), workers=1)
    first.listen()
    with first, pytest.raises(UserError, match=f"--port={port}: Address already in use; give"):
        late.run()
