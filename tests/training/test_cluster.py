import json
import socket

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.training.cluster import Cluster, check_port, read_cluster

WORKERS = ["one:1234", "two:1234"]


def read(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return read_cluster({"TF_CONFIG": text})


def config(cluster=None, **task):
    return {
        "cluster": {"worker": WORKERS} if cluster is None else cluster,
        "task": {"type": "worker", "index": 0, **task},
    }


def test_without_other_workers():
    assert read_cluster({}) == read("") == read("{}") == Cluster(1, True, "")
    assert read(config({"worker": ["one:1"]})) == Cluster(1, True, "")


def test_who_writes():
    assert read(config()) == Cluster(2, True, "one:1234")
    assert read(config(index=1)) == Cluster(2, False, "two:1234")
    assert read(config(index="1")) == Cluster(2, False, "two:1234")
    led = {"chief": ["zero:1"], "worker": WORKERS}
    assert read(config(led)) == Cluster(3, False, "one:1234")
    assert read(config(led, type="chief")) == Cluster(3, True, "zero:1")


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", 'has no "cluster"'),
        ({"task": {"type": "worker", "index": 0}}, 'has no "cluster"'),
        ({"cluster": {"worker": WORKERS}}, 'has no "task"'),
        ({"cluster": [], "task": {}}, 'has no "cluster"'),
        (config({}), "names no worker"),
        (config({"worker": []}), "names no worker"),
        (config({"worker": "one:1"}), "does not list the addresses of 'worker'"),
        (config({"worker": [1]}), "does not list the addresses of 'worker'"),
        (config({"worker": ["one"]}), "the address 'one', which is not HOST:PORT"),
        (config({"worker": ["one:99999"]}), "which is not HOST:PORT"),
        (config({"worker": ["one:1", "one:1"]}), "two workers the same address"),
        (config({"ps": ["one:1"], "worker": WORKERS}), "has the role 'ps'"),
        (config(index=2), "the task index '2'; its cluster has 2 of type 'worker'"),
        (config(index=-1), "the task index '-1'"),
        (config(index=True), "the task index 'True'"),
        (config(index=None), "the task index 'None'"),
        (config(type="chief"), "the task type 'chief', which its cluster does not have"),
        (config(type=3), "the task type '3'"),
    ],
)
def test_mistakes(value, fault):
    with pytest.raises(UserError, match=rf"^TF_CONFIG .*{fault}.*; correct it, or unset it"):
        read(value)


def test_a_port_in_use():
    with socket.socket() as taken:
        taken.bind(("", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=rf"port {port}, which cannot be used: Address already"):
            check_port(Cluster(2, True, f"localhost:{port}"))
    check_port(Cluster(2, True, f"localhost:{port}"))
    check_port(Cluster())
