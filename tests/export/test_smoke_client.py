import http.server
import io
import json
import socket
import sys
import threading

import pytest
import tensorflow as tf

from t2t_phrase.export import smoke_client


@pytest.fixture
def server():
    """Answers as TensorFlow Serving does, by upper-casing; keeps the requests."""
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append((self.path, body))
            fine = self.path == "/v1/models/ende:predict"
            answer = {"error": "Servable not found"}
            if fine:
                answer = {
                    "predictions": [
                        {"translation": text.upper(), "score": -0.5, "cut": not text}
                        for text in (instance["text"] for instance in body["instances"])
                    ]
                }
            self.send_response(200 if fine else 404)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *args):
            pass

    running = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/v1/models", requests
    running.shutdown()
    running.server_close()


def test_a_server_is_asked(server, monkeypatch, capsys):
    url, requests = server
    monkeypatch.setattr(sys, "stdin", io.StringIO("ein haus\n\nüber\n"))
    smoke_client.main([f"--url={url}/ende"])
    captured = capsys.readouterr()
    assert captured.out == "-0.5000\tEIN HAUS\n-0.5000\t\n-0.5000\tÜBER\n"
    assert captured.err == "line 2: longer than the model's limit, so it was cut\n"
    instances = [{"text": "ein haus"}, {"text": ""}, {"text": "über"}]
    assert requests == [
        (
            "/v1/models/ende:predict",
            {"signature_name": "serving_default", "instances": instances},
        )
    ]


def test_what_a_server_says_is_passed_on(server):
    url, _ = server
    with pytest.raises(SystemExit, match=r"/enfr answered 404: .*Servable not found"):
        smoke_client.translate_remote(f"{url}/enfr", ["a"])
    with pytest.raises(SystemExit, match="cannot be reached"):
        smoke_client.translate_remote("http://127.0.0.1:9/v1/models/ende", ["a"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"", "ende did not answer: "),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhtml", "is not a model of TensorFlow Serv"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "is not a model of TensorFlow Serving"),
        (
            b'HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n{"predictions": ["x"]}',
            "is not a model of TensorFlow Serving: TypeError",
        ),
    ],
)
def test_what_is_no_server_of_models_is_named(answer, message):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def reply():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

        replying = threading.Thread(target=reply)
        replying.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/models/ende"
        with pytest.raises(SystemExit, match=message):
            smoke_client.translate_remote(url, ["a"])
        replying.join()
    with pytest.raises(SystemExit, match=r"is not a model of TensorFlow Serving.*unknown url type"):
        smoke_client.translate_remote("", ["a"])


class Upper(tf.Module):
    def __init__(self, score):
        super().__init__()
        self.score = tf.Variable(score)

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="text")])
    def translate(self, text):
        score = tf.fill([tf.size(text)], self.score.read_value())
        return {"translation": tf.strings.upper(text), "score": score, "cut": text == ""}


def test_the_newest_version_is_loaded(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit, match="holds no exported version"):
        smoke_client.translate_local(str(tmp_path), ["a"])
    for version, score in (("9", -9.0), ("10", -10.0)):
        module = Upper(score)
        tf.saved_model.save(
            module, str(tmp_path / version), signatures={"serving_default": module.translate}
        )
    monkeypatch.setattr(sys, "stdin", io.StringIO("ein haus\r\n"))
    smoke_client.main([f"--export_dir={tmp_path}"])
    assert capsys.readouterr().out == "-10.0000\tEIN HAUS\n"
    with pytest.raises(SystemExit, match="/10 reads text; got phrases, text: see --feature"):
        smoke_client.translate_local(str(tmp_path), ["a"], {"phrases": ["a"]})
    with pytest.raises(SystemExit, match="holds no exported version"):
        smoke_client.translate_local(f"{tmp_path}/nowhere", ["a"])


class Checked(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name=n) for n in ("text", "x")])
    def translate(self, text, x):
        same = tf.debugging.assert_equal(text, x, message="x must be the text")
        with tf.control_dependencies([same]):
            score = tf.zeros([tf.size(text)])
        return {"translation": text, "score": score, "cut": text == ""}


def test_a_feature_that_does_not_fit_its_sentence_is_named(tmp_path):
    module = Checked()
    signatures = {"serving_default": module.translate}
    tf.saved_model.save(module, str(tmp_path / "1"), signatures=signatures)
    assert smoke_client.translate_local(str(tmp_path), ["a"], {"x": ["a"]}) == [("a", 0.0)]
    with pytest.raises(SystemExit, match=r"/1: x must be the text$"):
        smoke_client.translate_local(str(tmp_path), ["a"], {"x": ["b"]})


@pytest.mark.parametrize(
    ("text", "reason"),
    [("a\tb\n", "has 1 lines, and standard input 2"), (None, "No such file"), ("\xff", "decode")],
)
def test_a_file_that_does_not_fit_the_sentences_is_named(
    text, reason, server, tmp_path, monkeypatch
):
    url, requests = server
    if text:
        (tmp_path / "phrases").write_text(text, encoding="latin-1")
    monkeypatch.setattr(sys, "stdin", io.StringIO("a b\nc\n"))
    with pytest.raises(SystemExit, match=rf"^--feature=phrases=.*/phrases.*{reason}"):
        smoke_client.main([f"--url={url}/ende", f"--feature=phrases={tmp_path}/phrases"])
    assert not requests
