import importlib.util
import itertools
import json
import os
import pathlib
import queue
import re
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import tensorflow as tf
from in_process import exit_code
from running_server import ask, predict, wait_until
from toy_run import make_toy_run

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.smoke_client import translate_remote
from t2t_phrase.serving import server

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs/examples/tensorflow_serving"


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_toy_run(tmp_path_factory.mktemp("toy"))


def served(arguments, client, monkeypatch):
    """Run the command in this thread and a client in another; return exit code and the result."""
    said, results, usual = queue.SimpleQueue(), [], server.note

    def note(text):
        usual(text)
        said.put(text)

    def ask_and_stop():
        while (text := said.get()) is not None:
            if "http://" in text:
                try:
                    results.append(client(text.split()[-1]))
                finally:
                    os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(server, "note", note)
    thread = threading.Thread(target=ask_and_stop)
    thread.start()
    code = exit_code("serve", [*arguments, "--port=0"], monkeypatch)
    said.put(None)
    thread.join()
    return code, results[0]


@pytest.mark.slow
def test_a_run_is_served_as_the_decoder_translates(toy, monkeypatch, capsys):
    options = "beam_size=3,extra_length=4"
    lines = toy.lines[:40]
    pairs = list(itertools.pairwise(lines[:8]))

    def client(url):
        scored = {
            "signature_name": "score",
            "inputs": {"source": [a for a, _ in pairs], "target": [b for _, b in pairs]},
        }
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda line: predict(url, {"instances": [line]}), lines))
        shown = {path.stem: predict(url, path.read_bytes()) for path in EXAMPLES.glob("*.json")}
        shown["page"] = ask(url, f"/?text={lines[0].replace(' ', '+')}")
        return found, translate_remote(f"{url}/v1/models/toy", lines), predict(url, scored), shown

    arguments = [*toy.flags, "--model_name=toy", f"--decode_hparams={options}"]
    arguments += ["--serving_hparams=drain_seconds=0.1,workers=2"]
    code, (alone, together, scores, shown) = served(arguments, client, monkeypatch)
    assert code == 0
    said = capsys.readouterr().err
    assert "toy, version 30: http://127.0.0.1:" in said
    assert "stopped; 47 requests for predictions were answered" in said
    hparams = DecodeHParams().override(options)
    translator = Translator(toy.model, toy.vocabularies, hparams.replace(return_beams=True))
    sentences = ["A house is old .", "Dogs run ."]
    # All at once: each shape is compiled.
    *found, first, second = translator.translate([*lines, *sentences])
    expected, beams = [hypotheses[0] for hypotheses in found], [first, second]
    texts = [hypothesis.text for hypothesis in expected]
    assert len(set(texts)) > 10
    assert [answer.body["predictions"][0]["translation"] for answer in alone] == texts
    assert [text for text, _ in together] == texts
    assert [score for _, score in together] == pytest.approx(
        [hypothesis.score for hypothesis in expected], rel=1e-4
    )
    assert scores.body["outputs"]["log_probability"] == pytest.approx(
        Scorer(toy.model, toy.vocabularies).score(pairs), rel=1e-4
    )
    # The requests that the documentation shows for TensorFlow Serving.
    texts = [hypotheses[0].text for hypotheses in beams]
    assert {answer.status for answer in shown.values()} == {200}
    assert shown["columns"].body["outputs"]["translation"] == texts
    for name in ("rows", "values"):
        rows = shown[name].body["predictions"]
        assert [row["translation"] for row in rows] == texts
        assert rows[0].keys() == {"translation", "score", "cut"}
    for row, hypotheses in zip(shown["nbest"].body["predictions"], beams, strict=True):
        assert row["translations"] == [hypothesis.text for hypothesis in hypotheses]
        assert row["counts"] == 3 and row["cut"] is False
    document = re.search(r'id="document">(.*?)</script>', shown["page"].body.decode(), re.S)[1]
    (sentence,) = json.loads(document)["sentences"]
    assert sentence["source"] == lines[0]
    # Control characters are made visible.
    if expected[0].text.isprintable():
        assert sentence["explanations"][0]["target"] == expected[0].text
    assert sentence["explanations"][0]["candidates"][0][1] == pytest.approx(
        expected[0].score, abs=1e-3
    )
    (row,) = shown["score"].body["predictions"]
    pair = ("A house is old .", "Ein Haus ist alt .")
    assert row["log_probability"] == pytest.approx(
        Scorer(toy.model, toy.vocabularies).score([pair])[0], rel=1e-4
    )


class Upper(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="text")])
    def translate(self, text):
        return {"translation": tf.strings.upper(text), "cut": text == ""}


def test_exports_are_served_and_watched(tmp_path, monkeypatch, capsys):
    module = Upper()
    folder = tmp_path / "ende" / "export"
    for number in (1, 2):
        tf.saved_model.save(
            module, str(tmp_path / str(number)), signatures={"serving_default": module.translate}
        )
    folder.mkdir(parents=True)
    (tmp_path / "1").rename(folder / "1")

    def client(url):
        first = predict(url, {"instances": ["a"]}, name="ende")
        (tmp_path / "2").rename(folder / "2")
        wait_until(lambda: ask(url, "/v1/models/ende/versions/2/metadata").status == 200)
        return first, predict(url, {"instances": ["a"]}, name="ende")

    arguments = [f"--export_dir={folder}", "--serving_hparams=watch_seconds=0.05,drain_seconds=0"]
    code, answers = served(arguments, client, monkeypatch)
    assert code == 0
    for answer in answers:
        assert answer.body == {"predictions": [{"translation": "A", "cut": False}]}
    assert f"version 2 of {folder} is served" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "give either --output_dir (or --checkpoint_path) or --export_dir"),
        (["--output_dir=a", "--export_dir=b"], "give either --output_dir"),
        (["--export_dir=b", "--data_dir=c"], "--data_dir: is part of an export"),
        (["--export_dir=b"], "--export_dir=b holds no exported version"),
        (["--export_dir=b*", "--model_name=b"], "--export_dir=b*: TensorFlow treats [ ] * ?"),
        (["--export_dir=b", "--port=99999"], "--port=99999"),
        (["--export_dir=b", "--host=no.such.host.invalid"], "--host=no.such.host.invalid: is not"),
        (["--export_dir=b", "--model_name=a/b"], "--model_name='a/b': the name is part of"),
        (["--output_dir=missing"], "missing"),
        (["--output_dir=a", "--decode_hparams=shortlist_best=5"], "export it with t2t-phrase-expo"),
        (["--output_dir=a", "--unknown_dictionary="], "--unknown_dictionary= names no file"),
        (["--output_dir=a", "--alignment_model_dir="], "--alignment_model_dir= names no file"),
        (["--output_dir=a", "--export_dir="], "--export_dir= names no file"),
        (
            ["--export_dir=b", "--serving_hparams=max_que=3,timeout=0"],
            "max_que: unknown; did you mean max_queue?",
        ),
        (["--export_dir=b", "--serving_hparams=timeout=0"], "timeout: must be between 0.001 and"),
    ],
)
def test_mistakes_are_one_line(arguments, message, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    port = [] if any("--port" in argument for argument in arguments) else ["--port=0"]
    assert exit_code("serve", [*arguments, *port], monkeypatch) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: ") and message in said and said.count("\n") == 1


def test_a_port_in_use_is_said_before_a_model_is_loaded(monkeypatch, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert exit_code("serve", ["--output_dir=missing", f"--port={port}"], monkeypatch) == 2
    assert capsys.readouterr().err.startswith(f"error: --port={port}: Address already in use")


def test_missing_packages_are_named(monkeypatch, capsys):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "uvicorn" else found(name)
    )
    assert exit_code("serve", ["--output_dir=a"], monkeypatch) == 2
    said = capsys.readouterr().err
    assert said == ("error: t2t-phrase-serve needs uvicorn; pip install 't2t_phrase[serve]'\n")
