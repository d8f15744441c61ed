"""Workers on hosts of their own, which are network namespaces: they train and end together."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import namespaces
import numpy as np
import pytest
import tiny_training
from namespaces import Hosts
from tiny_training import random_pairs, write_shards

from t2t_phrase.runs import checkpoints

REASON = namespaces.missing()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(REASON), reason=REASON)]

SCRIPT = pathlib.Path(tiny_training.__file__)
SECONDS = 400  # far more than any of these takes; workers that wait for each other take for ever
TIMEOUT = 6
FOREVER = 1_000_000


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    pairs = random_pairs([1 + i * 7 % 12 for i in range(50)])
    return write_shards(tmp_path_factory.mktemp("records"), pairs)


@pytest.fixture
def hosts():
    with Hosts(4) as made:
        yield made


@pytest.fixture
def start(hosts, files, tmp_path):
    """A function that starts workers, which are killed if the test ends before them."""
    started = []

    def start_workers(count, *, own=None, absent=(), **options):
        addresses = [f"{hosts.address(host)}:2222" for host in range(count)]
        begun = []
        for index in set(range(count)) - set(absent):
            config = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
            given = {"files": files, "dropout": 0.3, "timeout": TIMEOUT, "train_steps": FOREVER}
            # A folder of its own, as if it were a disk of the host.
            given["folder"] = str(tmp_path / f"disk{index}" / "run")
            given |= options | ((own or {}).get(index, {}))
            begun.append(
                hosts.start(
                    index,
                    [sys.executable, str(SCRIPT), json.dumps(given)],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env={**os.environ, "TF_CONFIG": json.dumps(config)},
                )
            )
        started.extend(begun)
        return begun

    yield start_workers
    for process in started:
        process.kill()
        process.communicate()


def trained(processes):
    """Wait for workers that finish; return what each of them has printed."""
    printed = [process.communicate(timeout=SECONDS) for process in processes]
    codes = [process.returncode for process in processes]
    assert codes == [0] * len(processes), [err[-500:] for _, err in printed]
    return [out for out, _ in printed]


def sentence(process):
    """Wait for a worker that fails; return its exit code and its last line."""
    _, stderr = process.communicate(timeout=SECONDS)
    return process.returncode, (stderr.splitlines() or [""])[-1]


def until_step(process, step):
    for line in process.stdout:
        found = re.match(r"step (\d+)/", line)
        if found and int(found[1]) >= step:
            return
    raise AssertionError("the worker ended before")


def tensors(folder, step):
    path = folder / f"model.ckpt-{step}"
    return {**checkpoints.read_tensors(path), **checkpoints.read_tensors(path, "optimizer")}


def assert_same(one, other, step, **tolerance):
    expected = tensors(one, step)
    for name, value in tensors(other, step).items():
        if tolerance:
            np.testing.assert_allclose(value, expected[name], err_msg=name, **tolerance)
        else:
            np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.parametrize("count", [2, 4])
def test_workers_are_one_process_with_the_joined_batch(start, tmp_path, count):
    together, alone = tmp_path / "together", tmp_path / "alone"
    disks = {0: {"folder": str(together)}}
    trained(start(count, train_steps=6, own=disks))
    trained(start(1, train_steps=6, folder=str(alone), parts=count))
    assert_same(alone, together, 6, atol=2e-6)
    # Only the chief writes.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone", "together"]


@pytest.mark.parametrize("fault", ["kill", "freeze", "cut"])
@pytest.mark.parametrize("lost", [0, 2])
def test_a_lost_worker_is_named_and_the_run_goes_on(start, hosts, tmp_path, fault, lost):
    workers = start(3)
    folder = tmp_path / "disk0" / "run"
    until_step(workers[0], 6)
    begun = time.monotonic()
    victim = workers.pop(lost)
    if fault == "cut":
        hosts.disconnect(lost)
    else:
        victim.send_signal(signal.SIGKILL if fault == "kill" else signal.SIGSTOP)
    name = f"{'worker 2' if lost else 'the chief'} ({hosts.address(lost)}:2222)"
    cause = "ended unexpectedly" if fault == "kill" else f"not been heard from for {TIMEOUT} s"
    for worker in workers:
        code, line = sentence(worker)
        assert code == 3 and line.startswith(f"error: {name} has {cause}"), line
    assert time.monotonic() - begun < TIMEOUT + 60
    if fault == "cut":
        code, line = sentence(victim)
        assert code == 3 and "has not been heard from" in line, line
        hosts.connect(lost)
    victim.kill()
    victim.wait()
    step = int(checkpoints.latest(folder).rpartition("-")[2])
    shutil.copytree(folder, tmp_path / "kept")
    # The same command goes on, and the lost updates are made again.
    last = step + 5
    trained(start(3, train_steps=last))
    trained(start(3, train_steps=last, folder=str(tmp_path / "whole")))
    assert_same(tmp_path / "whole", folder, last)
    if fault == "kill" and lost:
        # To rounding with other numbers of workers: one computes the shares of three.
        trained(start(1, train_steps=last, folder=str(tmp_path / "kept"), parts=3))
        assert_same(tmp_path / "whole", tmp_path / "kept", last, atol=1e-5)


def test_a_full_disk_of_the_chief_ends_all(start, hosts, tmp_path):
    disk = tmp_path / "small"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], check=True)
    try:
        (disk / "filler").write_bytes(bytes(40_000))
        first, *others = start(3, own={0: {"folder": str(disk / "run")}})
        code, line = sentence(first)
        assert code == 3 and "space left" in line, line
        for worker in others:
            code, line = sentence(worker)
            assert code == 3
            assert line.startswith(f"error: the chief ({hosts.address(0)}:2222) stopped: "), line
            assert "space left" in line
    finally:
        for process in (first, *others):
            process.kill()
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_other_data_end_all_before_the_first_update(start, hosts):
    facts = {"the digest of the data": "3f"}
    workers = start(3, facts=facts, own={1: {"facts": {"the digest of the data": "77"}}})
    for worker in workers:
        code, line = sentence(worker)
        assert code == 2
        assert line.startswith(f"error: worker 1 ({hosts.address(1)}:2222) differs from the chief")


def test_an_unlike_host_that_never_comes(start, hosts):
    workers = start(3, timeout=TIMEOUT, absent=[2])
    for worker in workers:
        code, line = sentence(worker)
        assert code == 3 and f"({hosts.address(2)}:2222): not connected within 60 s" in line


def test_a_slow_worker_is_named(start):
    """One that runs for a fifth of the time only."""
    workers = start(2, timeout=30)
    until_step(workers[1], 4)
    for _ in range(40):
        for number, seconds in ((signal.SIGSTOP, 0.4), (signal.SIGCONT, 0.1)):
            workers[1].send_signal(number)
            time.sleep(seconds)
    for worker in workers:
        worker.kill()
    said, _ = workers[0].communicate(timeout=SECONDS)
    assert re.search(r"WARNING: worker 1 \(.*\) is the slowest: its part of an update takes", said)
