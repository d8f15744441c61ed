"""t2t-phrase-cluster: workers on this machine and, by an `ssh` that only starts a shell, others."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

import pytest
from in_process import exit_code

from t2t_phrase.bin.cluster import addresses_of, check_names, config_of
from t2t_phrase.bin.worker_processes import Worker, run_workers
from t2t_phrase.config import UserError
from t2t_phrase.training.cluster import read_cluster


def test_addresses():
    assert addresses_of(["one", "two:7", " one ", ""], 2222) == ["one:2222", "two:7", "one:2223"]
    assert addresses_of(["[::1]", "[::1]:9"], 5) == ["[::1]:5", "[::1]:9"]
    assert addresses_of(["one:6", "one", "one"], 5) == ["one:6", "one:5", "one:7"]


def test_the_config_is_one_that_the_trainer_reads():
    cluster = read_cluster({"TF_CONFIG": config_of(["one:1", "two:2"], 1)})
    assert cluster.addresses == ("one:1", "two:2") and cluster.rank == 1


def test_localhost_beside_other_hosts():
    check_names(["localhost", "127.0.0.1"])
    for name in ("localhost", "127.0.0.1"):
        with pytest.raises(UserError, match=f"other hosts cannot reach {name}"):
            check_names([name, "node2"])


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("", "--hosts is required"),
        ("--hosts=a,b", "the flags of t2t-phrase-trainer are required, after --"),
        ("--hosts=a,b --index=2 -- --data_dir=x", "--index=2: --hosts names 2 workers"),
        ("--hosts=a:1,a:1 -- --data_dir=x", "--hosts: two workers have the address a:1"),
        ("--hosts=a:x,b -- --data_dir=x", "--hosts: a:x is not HOST or HOST:PORT"),
        ("--hosts=a,a --port=65535 -- --data_dir=x", "--port=65535: there are not enough ports"),
        ("--hosts=localhost,b -- --data_dir=x", "other hosts cannot reach localhost"),
    ],
)
def test_mistakes(arguments, fault, capsys, monkeypatch):
    assert exit_code("cluster", arguments.split(), monkeypatch) == 2
    assert fault in capsys.readouterr().err


def test_one_worker_is_the_trainer():
    command = [sys.executable, "-m", "t2t_phrase.bin.cluster", "--hosts=a,b", "--index=1", "--"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("t2t-phrase-trainer ")


def worker(program, host="localhost", **variables):
    return Worker(host, [sys.executable, "-c", program], variables, "/")


def test_lines_have_the_numbers_of_their_workers(capsys):
    program = "import os; print('I am', os.environ['NAME'])"
    assert run_workers([worker(program, NAME="x"), worker(program, NAME="y")]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == ["[0] I am x", "[1] I am y"]


def test_the_others_end_with_one_that_fails():
    start = time.monotonic()
    waits = worker("import time; time.sleep(600)")
    assert run_workers([waits, worker("raise SystemExit(3)")], patience=0.5) == 3
    assert time.monotonic() - start < 300


def test_all_end_once_nobody_reads_their_output(monkeypatch):
    def write(text):
        raise BrokenPipeError

    monkeypatch.setattr("sys.stdout", types.SimpleNamespace(write=write))
    start = time.monotonic()
    program = "import time; print('x' * 10**6, flush=True); time.sleep(600)"
    with pytest.raises(BrokenPipeError):
        run_workers([worker(program), worker(program)])
    assert time.monotonic() - start < 300


def test_workers_on_other_hosts(tmp_path, monkeypatch, capsys):
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\n[ "$1" = -tt ] || exit 9\necho "to $2"\nexec sh -c "$3"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    config = json.dumps({"cluster": {"worker": ["it's:1"]}})
    program = "import os; print(os.getcwd(), os.environ['TF_CONFIG'])"
    assert run_workers([worker(program, "elsewhere", TF_CONFIG=config)]) == 0
    assert capsys.readouterr().out.splitlines() == ["[0] to elsewhere", f"[0] / {config}"]
    # A ~ is the home on the other host.
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own code").mkdir()
    there = worker(program, "elsewhere", TF_CONFIG="")._replace(folder="~/own code")
    assert run_workers([there]) == 0
    assert capsys.readouterr().out.splitlines()[1] == f"[0] {tmp_path}/own code "


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_passed_on(tmp_path, asked):
    program = (
        "import sys\n"
        "from t2t_phrase.bin.worker_processes import Worker, run_workers\n"
        "code = 'import signal, sys, time; signal.signal(15, lambda *a: sys.exit(143));'\n"
        "code += 'open(sys.argv[1], \"w\"); time.sleep(600)'\n"
        "worker = Worker('localhost', [sys.executable, '-c', code, sys.argv[1]], {}, '/')\n"
        "sys.exit(run_workers([worker]))\n"
    )
    begun = tmp_path / "begun"
    process = subprocess.Popen([sys.executable, "-c", program, str(begun)])
    while not pathlib.Path(begun).exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(asked)
    assert process.wait(300) == 143


def test_a_signal_while_workers_start_reaches_all_of_them(monkeypatch):
    def start(*arguments, **options):
        processes.append(popen(*arguments, **options))
        if len(processes) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return processes[-1]

    popen, processes = subprocess.Popen, []
    monkeypatch.setattr(subprocess, "Popen", start)
    assert run_workers([worker("import time; time.sleep(600)")] * 3) == 143
    assert [process.returncode for process in processes] == [-signal.SIGTERM] * 3
