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
    assert read_cluster({}) == read("") == read("{}") == Cluster()
    assert read(config({"worker": ["one:1"]})) == Cluster()
    assert (Cluster().workers, Cluster().is_chief, Cluster().address) == (1, True, "")


def test_who_writes():
    assert read(config()) == Cluster(("one:1234", "two:1234"), 0)
    assert read(config(index=1)) == read(config(index="1")) == Cluster(("one:1234", "two:1234"), 1)
    assert read(config()).is_chief and not read(config(index=1)).is_chief
    assert read(config(index=1)).address == "two:1234"


def test_a_chief_with_a_role_of_its_own():
    led = {"worker": WORKERS, "chief": ["zero:1"]}
    worker, chief = read(config(led, index=1)), read(config(led, type="chief"))
    assert worker == Cluster(("zero:1", "one:1234", "two:1234"), 2, True)
    assert chief.workers == 3 and chief.is_chief and not worker.is_chief
    assert chief.name(0) == "the chief (zero:1)" and chief.name(2) == "worker 1 (two:1234)"
    assert read(config()).name(1) == "worker 1 (two:1234)"


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
        (config({"chief": ["zero:1", "nil:1"], "worker": WORKERS}), "names two chiefs"),
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
            check_port(Cluster((f"localhost:{port}", "other:1")))
    check_port(Cluster((f"localhost:{port}", "other:1")))
    check_port(Cluster())
