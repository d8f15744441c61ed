"""t2t-phrase-cluster: starts t2t-phrase-trainer on several hosts, as the workers of one run.

    t2t-phrase-cluster --hosts=node1,node2 -- --problem=translate_text --data_dir=/shared/data \\
        --hparams_set=transformer_base --output_dir=runs/mine
    t2t-phrase-cluster --hosts=node1,node2 --index=1 -- ...

Arguments after `--` are for the trainer. The first command starts all workers: those on this
machine directly, others by ssh. The second one starts only worker 1, as Slurm or Kubernetes do on
each host.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
from collections.abc import Sequence

from absl import app, flags

from t2t_phrase.bin import common
from t2t_phrase.bin.worker_processes import Worker, run_workers
from t2t_phrase.config import UserError, clipped
from t2t_phrase.training.cluster import VARIABLE, read_cluster

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_list(
        "hosts", None, "The workers, HOST or HOST:PORT, the chief first; a host may be repeated."
    )
    flags.DEFINE_integer(
        "port",
        2222,
        "Port of a worker given without one; further workers on a host get the next ports.",
        lower_bound=1,
        upper_bound=2**16 - 1,
    )
    flags.DEFINE_integer(
        "index", None, "Start only this worker, on this machine; the chief is 0.", lower_bound=0
    )
    flags.DEFINE_string(
        "python", sys.executable, "Python on the other hosts, in which t2t_phrase is installed."
    )
    flags.DEFINE_string(
        "directory",
        "",
        "Folder in which workers on other hosts start; default: the current folder.",
    )


def main(given: Sequence[str]) -> None:
    """Start one worker or all of them.

    Args:
        given: the flags of the trainer.
    """
    if not FLAGS.hosts:
        raise app.UsageError("--hosts is required, such as --hosts=node1,node2")
    if not given:
        raise app.UsageError("the flags of t2t-phrase-trainer are required, after --")
    addresses = addresses_of(FLAGS.hosts, FLAGS.port)
    configs = [config_of(addresses, index) for index in range(len(addresses))]
    for config in configs:
        read_cluster({VARIABLE: config})
    trainer = ["-m", "t2t_phrase.bin.trainer", *given]
    if FLAGS.index is not None:
        if FLAGS.index >= len(configs):
            raise UserError(
                f"--index={FLAGS.index}: --hosts names {len(configs)} workers, counted from 0"
            )
        os.environ[VARIABLE] = configs[FLAGS.index]
        os.execv(sys.executable, [sys.executable, *trainer])
    hosts = [address.rpartition(":")[0] for address in addresses]
    check_names(hosts)
    workers = [
        Worker(
            host=host,
            command=[FLAGS.python, *trainer],
            environment={VARIABLE: config},
            folder=FLAGS.directory or str(pathlib.Path.cwd()),
        )
        for host, config in zip(hosts, configs, strict=True)
    ]
    sys.exit(run_workers(workers))


def addresses_of(hosts: Sequence[str], port: int) -> list[str]:
    """Return HOST:PORT for each worker.

    Args:
        hosts: HOST or HOST:PORT of each worker.
        port: the first port of workers given without one; on each host, they have the lowest ones
            that no other worker has.

    Raises:
        UserError: an address has no valid port, or two workers have the same one.
    """
    named = [*filter(None, map(str.strip, hosts))]
    used = [host for host in named if _has_port(host)]
    for address in used:
        number = address.rpartition(":")[2]
        if not (number.isascii() and number.isdecimal() and 0 < int(number[:6]) < 2**16):
            raise UserError(f"--hosts: {clipped(address)} is not HOST or HOST:PORT")
        if used.count(address) > 1:
            raise UserError(f"--hosts: two workers have the address {clipped(address)}")
    found: list[str] = []
    for host in named:
        if _has_port(host):
            found.append(host)
            continue
        free = (f"{host}:{n}" for n in range(port, 2**16) if f"{host}:{n}" not in used)
        if not (address := next(free, "")):
            raise UserError(f"--port={port}: there are not enough ports for {clipped(host)}")
        used.append(address)
        found.append(address)
    return found


def _has_port(host: str) -> bool:
    # An address of IPv6 is in brackets.
    return ":" in host.rpartition("]")[2]


def config_of(addresses: Sequence[str], index: int) -> str:
    """Return `TF_CONFIG` of a worker.

    Args:
        addresses: HOST:PORT of all workers.
        index: the number of this worker.
    """
    cluster = {"worker": list(addresses)}
    return json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})


def check_names(hosts: Sequence[str]) -> None:
    """Refuse hosts that the others would look for on their own machine.

    Raises:
        UserError: `localhost` or its address is listed with other hosts.
    """
    own = [host for host in hosts if host in ("localhost", "127.0.0.1")]
    if own and len(own) < len(hosts):
        raise UserError(
            f"--hosts: other hosts cannot reach {own[0]}; give the name that this machine has in "
            "the network"
        )


def run() -> None:
    """Start the command."""
    define_flags()
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    given = sys.argv[split + 1 :]
    del sys.argv[split:]
    common.run(lambda argv: main(given), tensorflow=False)


if __name__ == "__main__":
    run()
