import json
import os
import pathlib
import socket
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from tiny_training import random_pairs, write_shards

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.training.distribution import is_chief, make_strategy

REFERENCE = pathlib.Path(__file__).resolve().parents[1] / "reference"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REFERENCE)}

# Logical devices must be made before TensorFlow starts: a process of its own.
SCRIPT = """
import json
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from tiny_training import VOCAB_SIZE, make_stepper, weights
from t2t_phrase.training.distribution import make_strategy

random = np.random.default_rng(0)
batches = []
for length in (6, 9, 6, 12):
    batch = random.integers(3, VOCAB_SIZE, (2, 4, length)).astype(np.int32)
    batch[:, 3] = 0  # rows of padding fall to one device
    batch[1, 0, 4:] = 0
    batches.append(dict(zip(("inputs", "targets"), batch)))

found = []
for strategy in (make_strategy(devices=["CPU:0", "CPU:1"]), make_strategy()):
    stepper = make_stepper(strategy=strategy, clip_grad_norm=0.05)
    norms = [float(stepper.train(batch).grad_norm) for batch in batches]
    sums = stepper.evaluate(batches[0])
    found.append(
        {
            "replicas": stepper.replicas,
            "norms": norms,
            "sums": sums,
            "weights": {name: value.tolist() for name, value in weights(stepper).items()},
        }
    )
print(json.dumps(found))
"""


def test_two_devices_are_one_on_the_joined_batch():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=True,
    )
    two, one = json.loads(done.stdout)
    assert (two["replicas"], one["replicas"]) == (2, 1)
    np.testing.assert_allclose(two["norms"], one["norms"], rtol=1e-5)
    assert two["sums"] == pytest.approx(one["sums"], rel=1e-5)
    for name, value in one["weights"].items():
        np.testing.assert_allclose(two["weights"][name], value, atol=2e-6)


def test_more_gpus_than_there_are():
    count = len(tf.config.list_physical_devices("GPU")) + 1
    with pytest.raises(UserError, match=f"--worker_gpu={count}: TensorFlow finds {count - 1} GPUs"):
        make_strategy(worker_gpu=count)


def test_one_process_is_its_own_chief():
    assert is_chief(make_strategy())


@pytest.mark.slow
def test_two_workers_are_one_on_the_joined_batch(tmp_path):
    files = write_shards(tmp_path, random_pairs([1 + i * 7 % 12 for i in range(50)]))
    with socket.socket() as one, socket.socket() as other:
        ports = []
        for opened in (one, other):
            opened.bind(("localhost", 0))
            ports.append(opened.getsockname()[1])
    cluster = {"worker": [f"localhost:{port}" for port in ports]}
    configs = [{"cluster": cluster, "task": {"type": "worker", "index": i}} for i in (0, 1)]

    def start(folder, config):
        options = {"folder": str(tmp_path / folder), "files": files, "dropout": 0, "train_steps": 6}
        environment = {**ENVIRONMENT, "TF_CONFIG": json.dumps(config)}
        script = str(REFERENCE / "tiny_training.py")
        return subprocess.Popen([sys.executable, script, json.dumps(options)], env=environment)

    processes = [start("two", config) for config in configs]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    assert start("one", {}).wait() == 0
    two, one = (
        checkpoints.read_tensors(tmp_path / name / "model.ckpt-6") for name in ("two", "one")
    )
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, atol=2e-6)
