"""Trains sets with several seeds at once on one GPU with JAX, averages and translates.

    KERAS_BACKEND=jax python benchmarks/seeds_together.py --batches=batches.npz --output=runs \\
        --sets=transformer_multi30k_post,transformer_multi30k_post:r_drop=3+batch_size=2048

Each update is the one of `t2t-phrase-trainer` with JAX, vectorised over the seeds, since a small
model alone does not keep a GPU busy. At `--points`, the average of ten models, 150 updates apart or
less, translates the sources of dev and test. Every set has its folder, `runs/0`, `runs/1`, ...:
`ids.npz` has the translations, written at each point, `weights.npz` the last averages, and `log`
the losses. While one set trains, the next ones are compiled, without a search for the best kernels
if `XLA_FLAGS="--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false"`. With `--together=3`,
three sets train at once, which takes less time if `nvidia-cuda-mps-control -d` lets processes share
the GPU. The `--processes` divide its memory equally, unless `XLA_PYTHON_CLIENT_MEM_FRACTION` is
set. TensorFlow is not needed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO

import numpy as np
from script import run_script
from seeds_search import Translator, hparams_of, load_batches

AVERAGED, APART = 10, 150
# The part of the GPU's memory that all processes take together.
MEMORY = 0.95


def options() -> argparse.ArgumentParser:
    """Return the options of the command."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--batches", required=True, help="written by seed_batches.py")
    made.add_argument("--output", required=True, type=pathlib.Path)
    made.add_argument("--sets", required=True, help="SET or SET:NAME=VALUE+NAME=VALUE, ...")
    made.add_argument("--hparams", default="dtype_policy=mixed_bfloat16", help="for all sets")
    made.add_argument("--seeds", default="1234,4321,2023", help="as of the batches")
    made.add_argument("--points", default="8000", help="updates, the last of them at the end")
    made.add_argument("--reversed", action="store_true", help="exchange source and target")
    made.add_argument("--notranslate", action="store_true", help="write the weights only")
    made.add_argument("--processes", type=int, default=5, help="sets in preparation at once")
    made.add_argument("--together", type=int, default=1, help="sets that train at once")
    made.add_argument("--turn", help=argparse.SUPPRESS)
    return made


def main() -> int:
    args = options().parse_args()
    if args.turn:
        train(args)
        return 0
    open(args.batches, "rb").close()
    # JAX takes three quarters of the memory for each process otherwise.
    share = {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{MEMORY / args.processes:.3f}"}
    environment = share | os.environ
    failed = False
    waiting = list(enumerate(args.sets.split(",")))
    running: dict[int, subprocess.Popen[bytes]] = {}
    args.output.mkdir(parents=True, exist_ok=True)
    for path in args.output.glob("waiting-*"):
        path.unlink()  # of a killed process
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        while waiting or running:
            for number in [n for n, process in running.items() if process.poll() is not None]:
                code = running.pop(number).returncode
                folder, failed = args.output / str(number), failed or code != 0
                last = (folder / "log").read_text().splitlines()[-1:] if code else []
                print(f"{folder} ended with code {code}", *last, sep=": ", flush=True)
            while waiting and len(running) < args.processes:
                number, name = waiting.pop(0)
                folder = args.output / str(number)
                folder.mkdir(exist_ok=True)
                # The last value of an option counts.
                command = [sys.executable, __file__, *sys.argv[1:], f"--sets={name}"]
                command += [f"--output={folder}", f"--turn={number}"]
                with (folder / "log").open("w") as log:
                    running[number] = subprocess.Popen(
                        command, stdout=log, stderr=subprocess.STDOUT, env=environment
                    )
                print(f"{folder}: {name}", flush=True)
            time.sleep(0.2)
    finally:
        for process in running.values():
            process.terminate()
    return int(failed)


def train(args: argparse.Namespace) -> None:
    """Train one set."""
    start = time.monotonic()

    def log(text: str) -> None:
        print(f"{time.monotonic() - start:6.1f} s  {text}", flush=True)

    points = [int(point) for point in args.points.split(",")]
    given = load_batches(args.batches, exchange=args.reversed)
    hparams = hparams_of(args.sets, args.hparams)
    seeds = Seeds(
        hparams,
        [int(seed) for seed in args.seeds.split(",")],
        updates=points[-1],
        vocab_size=int(given["vocab_size"]),
    )
    log(f"{args.sets}: {seeds.parameters:,} parameters")
    batches = Batches(given, len(seeds.seeds), hparams.training_features)
    if len(batches.order) < points[-1]:
        raise SystemExit(
            f"{args.batches} has {len(batches.order)} batches of every seed for {points[-1]} "
            f"updates: make more with seed_batches.py --updates={points[-1] + points[-1] // 20}"
        )
    # Lowering is Python's work; the programs are then compiled at the same time.
    pool = concurrent.futures.ThreadPoolExecutor()
    for kind in sorted(set(batches.order.tolist())):
        seeds.start_compilation(batches.first_of(kind), pool)
    if not args.notranslate:
        translator = Translator([hparams], given)
        translator.start_compilation(seeds.values, pool)
    seeds.wait()
    log("compiled the updates")
    averages, found, losses = Averages(points), {}, []
    with turn(args.output.parent, int(args.turn), args.together):
        since = time.monotonic()
        for step in range(1, points[-1] + 1):
            result = seeds.update(batches.at(step - 1))
            losses.append(result.objective / result.tokens)
            averages.add(step, seeds.values)
            if step % 100 == 0 or step in points:
                means = " ".join(f"{loss:.4f}" for loss in np.mean(np.array(losses), axis=0))
                pace = (time.monotonic() - since) / len(losses) * 1e3
                log(f"step {step}  losses {means}  {pace:.2f} ms an update")
                losses, since = [], time.monotonic()
            if step in points:
                values = averages.mean(step)
                if step == points[-1]:
                    np.savez(args.output / "weights.npz", **seeds.named(values))
                if not args.notranslate:
                    translated = translator(values).items()
                    found |= {f"{step}_{split}": ids for split, ids in translated}
                    np.savez_compressed(args.output / "ids.npz", **found)
                    log(f"translated at step {step}")
                    since = time.monotonic()


@contextlib.contextmanager
def turn(folder: pathlib.Path, rank: int, together: int) -> Iterator[None]:
    """Wait until fewer than `together` processes train; the lowest rank that waits is the first."""
    waiting = folder / f"waiting-{rank:03}"
    waiting.touch()
    try:
        with contextlib.ExitStack() as stack:
            names = [folder / f"lock-{number}" for number in range(together)]
            locks = [stack.enter_context(name.open("w")) for name in names]
            while min(folder.glob("waiting-*")) != waiting or not any(map(locked, locks)):
                time.sleep(0.05)
            waiting.unlink()
            yield
    finally:
        waiting.unlink(missing_ok=True)


def locked(file: TextIO) -> bool:
    """Lock a file unless another process has done so, and return whether it is now locked."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Seeds:
    """The variables of all seeds, stacked, and the update of all of them.

    Args:
        hparams: the set.
        seeds: of weights and dropout.
        updates: number of updates.
        vocab_size: rows of the embedding.
    """

    def __init__(self, hparams: Any, seeds: list[int], *, updates: int, vocab_size: int) -> None:
        import jax
        from jax import numpy as jnp

        from t2t_phrase.training.build import build, make_stepper
        from t2t_phrase.training.distribution import make_strategy
        from t2t_phrase.training.schedules import make_schedule

        strategy = make_strategy()
        states = []
        self.seeds = seeds
        for seed in self.seeds:
            built = build(
                hparams,
                name=hparams.model,
                vocab_size=vocab_size,
                target_vocab_size=None,
                schedule=make_schedule(hparams, train_steps=updates),
                seed=seed,
                strategy=strategy,
            )
            stepper = make_stepper(built, hparams, seed=seed, strategy=strategy)
            states.append(stepper._state())
        self.hparams = hparams
        self.paths = [variable.path for variable in stepper.trainable]
        self.parameters = sum(int(np.prod(v.shape)) for v in stepper.trainable)
        stacked = jax.tree.map(lambda *each: jnp.stack(each), *states)
        self.values, self.slots, self._fixed = stacked
        self._drawn = jnp.asarray(self.seeds, jnp.uint32)

        def of_seed(values, slots, fixed, features, units, seed):  # type: ignore[no-untyped-def]
            stepper.seed = seed
            given = {name: array.astype(jnp.int32)[None] for name, array in features.items()}
            return stepper._updated(values, slots, fixed, given, units)

        self._update = jax.jit(jax.vmap(of_seed), donate_argnums=(0, 1))
        self._compiling: dict[Any, Any] = {}

    def update(self, batch: dict[str, np.ndarray]) -> Any:
        """Make an update of every seed, and return its `StepResult`."""
        run = self._compiled[batch["inputs"].shape]
        self.values, self.slots, result = run(*self._arguments(batch))
        return result

    def start_compilation(self, batch: dict[str, np.ndarray], pool: Any) -> None:
        """Let a thread of the pool compile the update for a shape."""
        lowered = self._update.lower(*self._arguments(batch))
        self._compiling[batch["inputs"].shape] = pool.submit(lowered.compile)

    def wait(self) -> None:
        """Wait for these compilations."""
        self._compiled = {shape: each.result() for shape, each in self._compiling.items()}

    def named(self, values: Any) -> dict[str, np.ndarray]:
        """Return values of all seeds by name, in half precision."""
        return {p: np.asarray(v, np.float16) for p, v in zip(self.paths, values, strict=True)}

    def _arguments(self, batch: dict[str, np.ndarray]) -> tuple[Any, ...]:
        tokens = np.count_nonzero(batch["targets"], axis=(1, 2))
        pairs = np.count_nonzero(batch["targets"][:, :, 0], axis=1)
        by_sentence = self.hparams.gradient_mean == "sentences"
        units = np.stack([tokens, pairs if by_sentence else tokens], axis=1).astype(np.float32)
        return self.values, self.slots, self._fixed, batch, units, self._drawn


class Batches:
    """The batches of all seeds, (seeds, rows, length) int16 for each array.

    Args:
        given: the content of the file.
        seeds: the number of seeds.
        features: features that the model reads besides the ids.
    """

    def __init__(self, given: Any, seeds: int, features: Any) -> None:
        self._pads = {"inputs": 0, "targets": 0, **{each.name: each.pad for each in features}}
        self._arrays = {name: given[name] for name in self._pads}
        self.order, self.shapes = given["order"], given["shapes"]
        self._members = [given[f"members_{number}"] for number in range(seeds)]
        counts = [given[f"counts_{number}"] for number in range(seeds)]
        self._starts = [np.concatenate([[0], np.cumsum(count)]) for count in counts]

    def at(self, number: int) -> dict[str, np.ndarray]:
        """Return a batch by its number, from 0."""
        rows, length = self.shapes[self.order[number]]
        found = {}
        for name, array in self._arrays.items():
            shape = (len(self._members), rows, length)
            found[name] = np.full(shape, self._pads[name], np.int16)
            for seed, (members, starts) in enumerate(zip(self._members, self._starts, strict=True)):
                chosen = members[starts[number] : starts[number + 1]]
                found[name][seed, : len(chosen)] = array[chosen, :length]
        return found

    def first_of(self, kind: int) -> dict[str, np.ndarray]:
        """Return the first batch of a shape."""
        return self.at(int(np.argmax(self.order == kind)))


class Averages:
    """Sums of the models before each point.

    Args:
        points: the updates at which the average is wanted.
    """

    def __init__(self, points: list[int]) -> None:
        import jax
        from jax import numpy as jnp

        self._due: dict[int, list[int]] = {}
        self._sums: dict[int, Any] = {}
        self._copy = jax.jit(lambda values: jax.tree.map(jnp.array, values))
        self._add = jax.jit(
            lambda sums, values: jax.tree.map(jnp.add, sums, values), donate_argnums=0
        )
        for point in points:
            apart = max(1, min(APART, point // 50))
            for number in range(AVERAGED):
                if (step := point - number * apart) > 0:
                    self._due.setdefault(step, []).append(point)
        self._counts = {p: sum(p in each for each in self._due.values()) for p in points}

    def add(self, step: int, values: Any) -> None:
        """Add the model after an update to the sums that it belongs to."""
        for point in self._due.get(step, ()):
            sums = self._sums.get(point)
            self._sums[point] = self._copy(values) if sums is None else self._add(sums, values)

    def mean(self, point: int) -> Any:
        """Return the average of a point."""
        return [each / self._counts[point] for each in self._sums.pop(point)]


if __name__ == "__main__":
    run_script(main)
