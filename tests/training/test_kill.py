import json
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest
import tiny_training
from tiny_training import random_pairs, write_shards

from t2t_phrase.runs import checkpoints

SCRIPT = pathlib.Path(tiny_training.__file__)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    pairs = random_pairs([1 + i * 7 % 12 for i in range(50)])
    return write_shards(tmp_path_factory.mktemp("records"), pairs)


def start(folder, files, **options):
    options = {"folder": str(folder), "files": files, "dropout": 0.3, **options}
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), json.dumps(options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def wait_for(process, text):
    for line in process.stdout:
        if text in line:
            return line
    raise AssertionError(f"the process ended without {text!r}")


def test_k_and_k_steps_through_a_kill_are_2k_steps(files, tmp_path):
    whole = start(tmp_path / "whole", files, train_steps=20)
    killed = start(tmp_path / "killed", files, train_steps=1_000_000, killed_after="model.ckpt-8")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    resumed = start(tmp_path / "killed", files, train_steps=20)
    wait_for(resumed, "(step 8)")
    assert resumed.wait() == 0 and whole.wait() == 0
    paths = [tmp_path / name / "model.ckpt-20" for name in ("whole", "killed")]
    for group in ("model", "optimizer"):
        one, other = (checkpoints.read_tensors(path, group) for path in paths)
        assert one.keys() == other.keys() and one
        for name, value in one.items():
            np.testing.assert_array_equal(value, other[name])
    assert checkpoints.read_state(paths[0]) == checkpoints.read_state(paths[1])
