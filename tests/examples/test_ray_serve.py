"""Replicas behind one address answer as the exported model does."""

import json
import socket

import pytest
from cluster import run_driver
from toy_run import make_toy_run

import t2t_phrase
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.export.saved_model import export

pytest.importorskip("ray")

DRIVER = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from ray import serve
from ray_serve import deployment
from running_server import ask, predict

exported, port, lines = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
url = f"http://127.0.0.1:{port}"
serve.start(http_options={"host": "127.0.0.1", "port": port})
serve.run(deployment(exported, replicas=2, name="toy"), route_prefix="/")
with ThreadPoolExecutor(16) as pool:
    found = list(pool.map(lambda line: predict(url, {"instances": [line]}), lines))
replicas = serve.status().applications["default"].deployments["translation"].replica_states
wrong = predict(url, {"instances": [3]})
counts = {}
for _ in range(40):
    text = ask(url, "/metrics").body.decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line[0] != "#")
    counts[values["t2t_phrase_sentences_created"]] = float(values["t2t_phrase_sentences_total"])
say(json.dumps({
    "statuses": [answer.status for answer in found],
    "texts": [answer.body["predictions"][0]["translation"] for answer in found],
    "replicas": replicas,
    "wrong": [wrong.status, wrong.body],
    "metadata": ask(url, "/v1/models/toy/metadata").status,
    "counts": sorted(counts.values()),
}))
serve.shutdown()
"""


@pytest.mark.slow
def test_two_replicas_answer_at_one_address(tmp_path):
    toy = make_toy_run(tmp_path / "toy")
    options = DecodeHParams().override("beam_size=2,extra_length=3")
    exported = tmp_path / "exported"
    export(toy.model, toy.vocabularies, options, exported)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    lines = toy.lines[:60]
    (said,) = run_driver(DRIVER, str(exported), str(port), json.dumps(lines))
    found = json.loads(said)
    expected = t2t_phrase.ExportedTranslator(exported).translate(lines)
    assert set(found["statuses"]) == {200} and found["texts"] == expected
    assert found["replicas"] == {"RUNNING": 2}
    assert found["wrong"][0] == 400 and "must be a string" in found["wrong"][1]["error"]
    assert found["metadata"] == 200
    # Both have searched.
    assert len(found["counts"]) == 2 and sum(found["counts"]) >= 60 and min(found["counts"]) > 0
