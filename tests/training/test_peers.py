"""Workers without TensorFlow that watch each other, as processes on this machine."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import peer_worker
import pytest
from free_ports import free_ports

from t2t_phrase.training.cluster import Cluster
from t2t_phrase.training.pace import State
from t2t_phrase.training.peers import OFFSET, LostWorkerError, Peers

TWO, CHIEF = r"worker 2 \(localhost:\d+\)", r"the chief \(localhost:\d+\)"
SECONDS = 300  # far more than any of these takes


@pytest.fixture
def start():
    """A function that starts workers, which are killed if the test ends before them."""
    started = []

    def start_workers(*options, absent=()):
        ports = free_ports(len(options))
        cluster = {"worker": [f"localhost:{port}" for port in ports]}
        for index, given in enumerate(options):
            config = {"cluster": cluster, "task": {"type": "worker", "index": index}}
            config["cluster"] = given.get("cluster", cluster)
            chosen = {"facts": {}, "timeout": 60, **given}
            if index in absent:
                continue
            started.append(
                subprocess.Popen(
                    [sys.executable, str(pathlib.Path(peer_worker.__file__)), json.dumps(chosen)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    env={**os.environ, "TF_CONFIG": json.dumps(config)},
                )
            )
        return started

    yield start_workers
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def ends(processes):
    """Wait for processes; return (exit code, last line of standard error) of each."""
    found = []
    for process in processes:
        # A worker whose standard input is closed would finish.
        code = process.wait(SECONDS)
        found.append((code, (process.stderr.read().splitlines() or [""])[-1]))
    return found


def joined(processes):
    """Wait until all workers have joined."""
    for process in processes:
        assert process.stdout.readline().startswith("joined")


@pytest.mark.slow
def test_workers_that_finish(start):
    workers = start({"facts": {"seed": 1}}, {"facts": {"seed": 1}}, {"facts": {"seed": 1}})
    for worker in workers:
        assert worker.stdout.readline() == "joined {'seed': 1}\n"
    # One after the other: who is done may leave.
    for worker in workers:
        worker.communicate(timeout=SECONDS)
        assert worker.returncode == 0


LATER = pytest.mark.slow


@pytest.mark.parametrize(
    ("fault", "lost", "sentence"),
    [
        (signal.SIGKILL, 2, rf"{TWO} has ended unexpectedly \(last heard from at step 7\)"),
        pytest.param(signal.SIGSTOP, 2, rf"{TWO} has not been heard from for 5 s", marks=LATER),
        pytest.param(signal.SIGKILL, 0, rf"{CHIEF} has ended unexpectedly", marks=LATER),
        pytest.param("fail", 1, r"worker 1 \(.*\) stopped: the disk is full", marks=LATER),
        pytest.param("fail", 0, rf"{CHIEF} stopped: the disk is full", marks=LATER),
    ],
)
def test_all_others_name_the_worker_that_is_lost(start, fault, lost, sentence):
    options = {"timeout": 5} if fault == signal.SIGSTOP else {}
    workers = start(options, options, options)
    joined(workers)
    victim = workers.pop(lost)
    if fault == "fail":
        victim.stdin.write("fail\n")
        victim.stdin.flush()
    else:
        victim.send_signal(fault)
    for code, line in ends(workers):
        # That of the worker, where it said why it stopped.
        assert code == (2 if fault == "fail" else 3)
        assert re.match(f"error: {sentence}", line), line


def test_facts_that_differ(start):
    facts = {"batch_size": 1024, "the digest of the data": "3f"}
    workers = start({"facts": facts}, {"facts": facts}, {"facts": {**facts, "batch_size": 512}})
    named = r"worker 2 \(localhost:\d+\) differs from the chief \(localhost:\d+\) in batch_size"
    for code, line in ends(workers):
        assert code == 2
        assert re.match(rf"error: {named}: 512, not 1024; give all workers the same$", line), line


@pytest.mark.slow
def test_a_worker_that_does_not_come(start):
    # The chief waits less long than worker 1 would.
    workers = start({"starting": 0.2}, {}, {}, absent=[2])
    for code, line in ends(workers):
        assert code == 3
        assert re.match(r"error: worker 2 \(localhost:\d+\): not connected within 12 s", line), line


@pytest.mark.slow
def test_a_chief_that_does_not_come(start):
    ((code, line),) = ends(start({}, {"timeout": 0.2}, absent=[0]))
    assert code == 3
    assert re.match(r"error: the chief \(.*\) could not be reached at port \d+ within 2 s: ", line)


def test_strangers_and_wrong_clusters(start):
    port = free_ports(1)[0]
    chief = Cluster((f"localhost:{port}", "localhost:1"))
    with Peers(chief, timeout=60, log=lambda line: None, end=lambda error: None) as peers:
        joining = threading.Thread(target=hello, args=(port + OFFSET,), daemon=True)
        joining.start()
        with pytest.raises(LostWorkerError, match="has different addresses in its") as caught:
            peers.join({})
        joining.join()
    assert caught.value.exit_code == 2


def hello(port):
    """Connect as strangers, and then as a worker of another cluster."""
    for line in (b"GET / HTTP/1.1\r\n\r\n", b'{"hello": 5}\n', b'{"hello": 1, "addresses": []}\n'):
        for _ in range(1000):
            try:
                connection = socket.create_connection(("localhost", port), 60)
                break
            except OSError:
                time.sleep(0.1)
        with connection:
            connection.sendall(line)
            connection.recv(100)


@pytest.mark.slow
def test_a_slow_worker_is_named_and_one_that_does_not_move_ends_all(start):
    usual = {"starting": 0.25, "step": 8, "seconds": 0.2}
    workers = start(usual, {**usual, "seconds": 0.5}, {**usual, "step": 7})
    for code, line in ends(workers[1:]):
        assert code == 3
        assert re.match(r"error: worker 2 \(.*\) is alive, but has been at step 7 for \d+ s", line)
    said = workers[0].stdout.read()
    assert re.search(
        r"WARNING: worker 1 .* is the slowest: its part of an update takes 0.5 s", said
    )


def test_without_other_workers():
    with Peers(Cluster()) as peers:
        peers.join({"seed": 1})
        peers.compare({"seed": 1})
        peers.at(3, "update")
        assert peers.of_chief({"step": 3}) == {"step": 3}


def test_an_error_in_a_block_without_others_is_raised():
    with pytest.raises(ValueError, match="own"), Peers(Cluster()):
        raise ValueError("own")


def test_a_worker_may_connect_while_the_others_are_watched(monkeypatch):
    class Connecting:
        @property
        def state(self):
            peers._links[len(peers._links) + 1] = Connecting()
            return State()

    watched = threading.Event()
    peers = Peers(Cluster(("a:1", "b:1", "c:1")), timeout=0.01)
    peers._links[1] = Connecting()
    monkeypatch.setattr(peers, "_tell", lambda **message: None)
    monkeypatch.setattr(peers._pace, "stuck", lambda states, now: watched.set() or "")
    beating = threading.Thread(target=peers._beat, daemon=True)
    beating.start()
    assert watched.wait(SECONDS)
    peers._closed.set()
    beating.join()
