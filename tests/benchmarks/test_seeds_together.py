"""`seeds_together.py` makes the updates of the trainer, and `seed_batches.py` its batches."""

import os
import signal
import subprocess
import sys
import threading
import time
import types
from contextlib import ExitStack

import numpy as np
import pytest
import seed_batches
import seeds_search
import seeds_together
from backend_process import needs_jax, run_under
from seed_batches import in_the_order_of, padded

POPEN = subprocess.Popen
SCRIPT = """
import numpy as np
from seeds_together import Averages, Batches, Seeds
from t2t_phrase import registry
from t2t_phrase.training.build import build, make_stepper
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.schedules import make_schedule

registry.discover()
changes = "num_hidden_layers=1,hidden_size=16,filter_size=16,num_heads=2,optimizer=adam"
hparams = registry.hparams["transformer_tiny"]().override(changes)
draws = np.random.default_rng(0)
given = {
    "order": np.array([0, 1, 0]),
    "shapes": np.array([[4, 5], [3, 8]]),
    "inputs": draws.integers(2, 20, (9, 8)).astype("int16"),
    "targets": draws.integers(2, 20, (9, 8)).astype("int16"),
}
for number in range(2):
    given[f"members_{number}"] = draws.integers(0, 9, 10)
    given[f"counts_{number}"] = np.array([4, 3, 3])
batches = Batches(given, 2, ())


class Now:
    def submit(self, function):
        result = function()
        return type("Done", (), {"result": lambda self: result})()


together = Seeds(hparams, [5, 6], updates=3, vocab_size=24)
for kind in (0, 1):
    together.start_compilation(batches.first_of(kind), Now())
together.wait()
averages = Averages([3])
seen = []
for number in range(3):
    together.update(batches.at(number))
    averages.add(number + 1, together.values)
    seen.append([np.asarray(value) for value in together.values])
means = averages.mean(3)
strategy = make_strategy()
for place, seed in enumerate((5, 6)):
    built = build(
        hparams,
        name="transformer",
        vocab_size=24,
        target_vocab_size=None,
        schedule=make_schedule(hparams, train_steps=3),
        seed=seed,
        strategy=strategy,
    )
    stepper = make_stepper(built, hparams, seed=seed, strategy=strategy)
    for number in range(3):
        batch = batches.at(number)
        stepper.train({name: rows[place].astype("int32") for name, rows in batch.items()})
    for variable, value in zip(stepper.trainable, together.values, strict=True):
        np.testing.assert_allclose(value[place], variable.value, atol=2e-5)
for steps, mean in zip(zip(*seen), means, strict=True):
    np.testing.assert_allclose(mean, np.mean(steps, axis=0), atol=1e-6)
"""


@needs_jax
@pytest.mark.slow
def test_updates_of_several_seeds_are_those_of_each_alone() -> None:
    run_under(SCRIPT)


def test_all_seeds_have_the_shapes_of_the_first() -> None:
    order = [0, 1, 0, 0, 1]
    batches = [("a", 1), ("b", 0), ("c", 0), ("d", 1), ("e", 0), ("f", 0)]
    assert in_the_order_of(order, batches) == ["b", "a", "c", "e", "d"]


def test_a_seed_without_enough_batches_of_a_shape_ends_early() -> None:
    assert in_the_order_of([0, 0, 1], [("a", 0), ("b", 1)]) == ["a"]


def test_rows_are_padded_and_cut() -> None:
    found = padded([[1, 2], [3, 4, 5, 6]], 9, 3)
    np.testing.assert_array_equal(found, [[1, 2, 9], [3, 4, 5]])


def test_a_set_that_fails_is_told_with_the_last_line_of_its_log(tmp_path, monkeypatch, capsys):
    (tmp_path / "batches.npz").touch()
    fails = "import sys; print('0.1 s'); print(sys.argv[-1]); sys.exit(2)"
    monkeypatch.setattr(
        seeds_together.subprocess,
        "Popen",
        lambda command, **options: POPEN([sys.executable, "-c", fails, *command[2:]], **options),
    )
    flags = [f"--batches={tmp_path}/batches.npz", f"--output={tmp_path}/runs", "--sets=a"]
    monkeypatch.setattr(sys, "argv", ["x", *flags])
    assert seeds_together.main() == 1
    assert f"{tmp_path}/runs/0 ended with code 2: --turn=0" in capsys.readouterr().out


@pytest.mark.parametrize(("given", "share"), [(None, "0.475"), ("0.2", "0.2")])
def test_processes_share_the_memory_unless_told_otherwise(tmp_path, monkeypatch, given, share):
    (tmp_path / "batches.npz").touch()
    found = []

    def popen(command, **options):
        found.append(options["env"]["XLA_PYTHON_CLIENT_MEM_FRACTION"])
        return POPEN([sys.executable, "-c", ""])

    monkeypatch.setattr(seeds_together.subprocess, "Popen", popen)
    if given:
        monkeypatch.setenv("XLA_PYTHON_CLIENT_MEM_FRACTION", given)
    else:
        monkeypatch.delenv("XLA_PYTHON_CLIENT_MEM_FRACTION", raising=False)
    flags = [f"--batches={tmp_path}/batches.npz", f"--output={tmp_path}/runs", "--sets=a,b,c"]
    monkeypatch.setattr(sys, "argv", ["x", *flags, "--processes=2"])
    assert seeds_together.main() == 0
    assert found == [share] * 3


def test_a_signal_ends_the_processes_of_all_sets(tmp_path, monkeypatch):
    (tmp_path / "batches.npz").touch()
    started = []

    def popen(command, **options):
        started.append(POPEN([sys.executable, "-c", "import time; time.sleep(600)"], **options))
        return started[-1]

    monkeypatch.setattr(seeds_together.subprocess, "Popen", popen)
    flags = [f"--batches={tmp_path}/batches.npz", f"--output={tmp_path}/runs", "--sets=a,b"]
    monkeypatch.setattr(sys, "argv", ["x", *flags])
    # Once both have been started.
    monkeypatch.setattr(
        seeds_together,
        "time",
        types.SimpleNamespace(sleep=lambda seconds: os.kill(os.getpid(), signal.SIGTERM)),
    )
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as ended:
            seeds_together.main()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 143
    assert [process.wait(120) for process in started] == [-signal.SIGTERM] * 2


def test_translations_do_not_count_for_the_time_of_updates(tmp_path, monkeypatch, capsys):
    clock = [0.0]

    def takes(seconds, result=None):
        def call(*arguments, **options):
            clock[0] += seconds
            return result

        return call

    one = types.SimpleNamespace(objective=np.ones(1), tokens=1.0)
    seeds = types.SimpleNamespace(
        seeds=[1], parameters=0, values=[], update=takes(1.0, one), named=lambda values: {}
    )
    batches = types.SimpleNamespace(order=np.zeros(200), first_of=int, at=int)
    translator = takes(1000.0, {"dev": np.zeros(1)})
    for owner in (seeds, translator):
        owner.start_compilation = lambda *arguments: None
    seeds.wait = lambda: None
    averages = types.SimpleNamespace(add=lambda *arguments: None, mean=lambda step: [])
    for name, made in (
        ("Seeds", seeds),
        ("Batches", batches),
        ("Averages", averages),
        ("Translator", translator),
    ):
        monkeypatch.setattr(seeds_together, name, lambda *a, made=made, **b: made)
    monkeypatch.setattr(seeds_together, "load_batches", lambda *a, **b: {"vocab_size": 8})
    hparams = types.SimpleNamespace(training_features=())
    monkeypatch.setattr(seeds_together, "hparams_of", lambda *a: hparams)
    fake = types.SimpleNamespace(monotonic=lambda: clock[0], sleep=time.sleep)
    monkeypatch.setattr(seeds_together, "time", fake)
    (tmp_path / "0").mkdir()
    flags = ["--batches=b", f"--output={tmp_path}/0", "--sets=a", "--seeds=1", "--turn=0"]
    seeds_together.train(seeds_together.options().parse_args([*flags, "--points=150,200"]))
    lines = [line for line in capsys.readouterr().out.splitlines() if "an update" in line]
    assert len(lines) == 3 and all(line.endswith("  1000.00 ms an update") for line in lines)


def test_as_many_sets_as_runs_are_wanted(monkeypatch, capsys):
    flags = ["--batches=b", "--output=o", "--runs=a,b", "--sets=a"]
    monkeypatch.setattr(sys, "argv", ["x", *flags])
    with pytest.raises(SystemExit):
        seeds_search.main()
    assert "--sets: give as many as --runs" in capsys.readouterr().err


def test_batches_longer_than_all_lengths_are_refused(monkeypatch, tmp_path):
    flags = ["--problem=translate_ende_multi30k", f"--data_dir={tmp_path}", "--output=o"]
    monkeypatch.setattr(sys, "argv", ["x", *flags, "--set=transformer_30k"])
    with pytest.raises(SystemExit, match="must be from max_length=100 of transformer_30k to 64"):
        seed_batches.main()


def test_as_many_sets_train_at_once_as_told_and_the_lowest_rank_is_next(tmp_path):
    order, ended = [], threading.Event()

    def waits(rank: int) -> None:
        with seeds_together.turn(tmp_path, rank, 2):
            order.append(rank)
            assert ended.wait(120)

    def wait_until(condition) -> None:
        end = time.monotonic() + 120
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.01)

    threads = [threading.Thread(target=waits, args=(rank,)) for rank in (3, 2)]
    with ExitStack() as first, ExitStack() as second:
        for rank, stack in enumerate((first, second)):
            stack.enter_context(seeds_together.turn(tmp_path, rank, 2))
        for thread in threads:
            thread.start()
        wait_until(lambda: len(list(tmp_path.glob("waiting-*"))) == 2)
        time.sleep(0.3)
        assert order == []
        first.close()
        wait_until(lambda: bool(order))
        time.sleep(0.3)
        assert order == [2]
    wait_until(lambda: len(order) == 2)
    ended.set()
    for thread in threads:
        thread.join()
    assert order == [2, 3]
    assert not list(tmp_path.glob("waiting-*"))
