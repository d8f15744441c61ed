"""Two worker processes on this machine: they train as one, and stop together."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest
import tiny_training
from free_ports import free_ports
from tiny_training import random_pairs, write_shards

from t2t_phrase.runs import checkpoints
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.worker_agreement import agreement_of

SCRIPT = pathlib.Path(tiny_training.__file__)
SECONDS = 1000  # far more than any of these takes; workers that wait for each other take for ever


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    pairs = random_pairs([1 + i * 7 % 12 for i in range(50)])
    return write_shards(tmp_path_factory.mktemp("records"), pairs)


@pytest.fixture
def start(files):
    """A function that starts workers, which are killed if the test ends before them."""
    started = []

    def start_workers(folder, count=2, **options):
        cluster = {"worker": [f"localhost:{port}" for port in free_ports(count)]}
        options = {"folder": str(folder), "files": files, "dropout": 0, **options}
        for index in range(count):
            config = {"cluster": cluster, "task": {"type": "worker", "index": index}}
            environment = {**os.environ, "TF_CONFIG": json.dumps(config)}
            started.append(
                subprocess.Popen(
                    [sys.executable, str(SCRIPT), json.dumps(options)],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env=environment,
                )
            )
        return started[-count:]

    yield start_workers
    for process in started:
        process.kill()
        process.stdout.close()
        process.wait()


def outcomes(processes):
    """Wait for all processes; return how the training of each ended."""
    printed = [process.communicate(timeout=SECONDS)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return [json.loads(text.splitlines()[-1]) for text in printed]


def tensors(folder, step):
    path = folder / f"model.ckpt-{step}"
    return {**checkpoints.read_tensors(path), **checkpoints.read_tensors(path, "optimizer")}


@pytest.mark.slow
def test_two_workers_are_one_on_the_joined_batch(start, tmp_path):
    outcomes(start(tmp_path / "two", train_steps=6))
    outcomes(start(tmp_path / "one", count=1, train_steps=6))
    two = tensors(tmp_path / "two", 6)
    for name, value in tensors(tmp_path / "one", 6).items():
        np.testing.assert_allclose(two[name], value, atol=2e-6)


@pytest.mark.slow
def test_a_signal_to_one_worker_stops_both_and_the_run_resumes(start, tmp_path):
    options = {"dropout": 0.3}
    chief, other = start(tmp_path / "run", train_steps=1_000_000, **options)
    for line in other.stdout:
        if line.startswith("step 6/"):
            break
    other.send_signal(signal.SIGTERM)
    stopped = outcomes([chief, other])
    step = stopped[0]["step"]
    assert stopped == [{"step": step, "reason": "signal", "signal": signal.SIGTERM}] * 2
    assert checkpoints.latest(tmp_path / "run") == str(tmp_path / "run" / f"model.ckpt-{step}")
    last = step + 6
    for folder in ("run", "whole"):
        ended = outcomes(start(tmp_path / folder, train_steps=last, **options))
        assert ended == [{"step": last, "reason": "finished", "signal": 0}] * 2
    resumed = tensors(tmp_path / "run", last)
    for name, value in tensors(tmp_path / "whole", last).items():
        np.testing.assert_array_equal(resumed[name], value, err_msg=name)


@pytest.mark.slow
def test_bleu_of_the_chief_stops_both(start, tmp_path):
    bleu = [10.0, 20.0, 20.0, 19.0]
    stopping = {"steps": 8, "metric": "bleu", "delta": 0.5}
    options = {"bleu": bleu, "early_stopping": stopping, "train_steps": 1_000_000}
    assert (
        outcomes(start(tmp_path, **options)) == [{"step": 16, "reason": "early", "signal": 0}] * 2
    )
    kept = json.loads((tmp_path / "evaluations.json").read_text())
    assert [scores["bleu"] for scores in kept.values()] == bleu
    assert checkpoints.latest(tmp_path / "best").endswith("model.ckpt-8")


@pytest.mark.slow
def test_an_unknown_metric_ends_both(start, tmp_path):
    stopping = {"steps": 8, "metric": "blue"}
    workers = start(tmp_path, bleu=[1.0], early_stopping=stopping, train_steps=1_000_000)
    assert [worker.wait(timeout=SECONDS) for worker in workers] == [2, 2]


def test_one_worker_agrees_with_itself():
    agreement = agreement_of(make_strategy())
    assert agreement.largest(15) == 15 and agreement.text_of_chief("é") == "é"
    assert agreement.of_chief([1.0, 27.3]) == [1.0, 27.3]
