"""Trains a set with several seeds at once on one GPU, averages checkpoints and translates.

    KERAS_BACKEND=jax python benchmarks/seeds_together.py --batches=batches.npz --output=runs/a \\
        --set=transformer_multi30k_post --hparams=dtype_policy=mixed_bfloat16

Each update is the one of `t2t-phrase-trainer` with JAX, vectorised over the seeds, since a small
model alone does not keep a GPU busy. `--points` are updates at which the average of ten models, 150
updates apart or less, translates the sources of dev and test; the ids go to `ids.npz`, and the last
averages to `weights.npz`. With `--ensemble=runs/a,runs/b`, nothing is trained: for each seed, those
models of `--set=A,B` translate together. TensorFlow is not needed.
"""

from __future__ import annotations

import argparse
import fcntl
import pathlib
import time
from typing import Any

import numpy as np

AVERAGED, APART = 10, 150


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--batches", required=True, help="written by seed_batches.py")
    options.add_argument("--output", required=True, type=pathlib.Path)
    options.add_argument("--set", required=True)
    options.add_argument("--hparams", default="dtype_policy=mixed_bfloat16")
    options.add_argument("--seeds", default="1234,4321,2023", help="as of the batches")
    options.add_argument("--vocab_size", type=int, default=10_000)
    options.add_argument("--points", default="1000,2000,4000,8000")
    options.add_argument("--beam_size", type=int, default=5)
    options.add_argument("--alpha", type=float, default=1.4)
    options.add_argument("--rows", type=int, default=512, help="sentences translated at once")
    options.add_argument("--seconds", type=float, default=1e9, help="stop before an update then")
    options.add_argument("--turns", default="", help="FOLDER:N: while N others train, wait")
    options.add_argument("--reversed", action="store_true", help="exchange source and target")
    options.add_argument("--notranslate", action="store_true", help="write the weights only")
    options.add_argument("--ensemble", default="", help="runs that translate together")
    args = options.parse_args()
    start = time.monotonic()
    args.output.mkdir(parents=True, exist_ok=True)
    points = [int(point) for point in args.points.split(",")]
    given = dict(np.load(args.batches))
    if args.reversed:
        for end in ("inputs", "dev_inputs", "test_inputs"):
            other = end.replace("inputs", "targets")
            given[end], given[other] = given[other], given[end]
    if args.ensemble:
        translate_together(args, given)
        log(start, "done")
        return
    seeds = Seeds(args, points[-1])
    log(start, f"{args.set}: {seeds.parameters:,} parameters")
    batches = Batches(given, len(seeds.seeds), seeds.hparams.training_features)
    for kind in sorted(set(batches.order.tolist())):
        seeds.compile(batches.first_of(kind))
        log(start, f"compiled the update for {'x'.join(map(str, batches.shapes[kind]))}")
    if not args.notranslate:
        translator = Translator([seeds.hparams], given, args)
        translator.compile(seeds.values)
        log(start, "compiled the search")
    turn = take_turn(args.turns)
    found: dict[str, np.ndarray] = {}
    averages = Averages(points)
    losses, began = [], time.monotonic()
    for step in range(1, points[-1] + 1):
        result = seeds.update(batches.at(step - 1))
        losses.append(result.objective / result.tokens)
        averages.add(step, seeds.values)
        if step % 100 == 0:
            mean = np.mean(np.array(losses), axis=0)
            losses = []
            pace = (time.monotonic() - began) / step
            log(start, f"step {step} loss {np.round(mean, 4)} {pace * 1e3:.2f} ms an update")
            if not np.isfinite(mean).any():
                break
            if time.monotonic() - start > args.seconds:
                log(start, "stopped: the time is over")
                break
        if step in points:
            values = averages.mean(step)
            if not args.notranslate:
                found |= {f"{step}_{name}": ids for name, ids in translator(values).items()}
                np.savez_compressed(args.output / "ids.npz", **found)
                log(start, f"translated at step {step}")
            if step == points[-1]:
                np.savez(args.output / "weights.npz", **seeds.named(values))
    if turn:
        turn.close()
    log(start, "done")


def take_turn(turns: str) -> Any:
    """Wait until fewer than N processes hold files of a folder, and return an open, locked file."""
    if not turns:
        return None
    folder, count = turns.rsplit(":", 1)
    while True:
        for number in range(int(count)):
            file = open(pathlib.Path(folder) / str(number), "w")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return file
            except BlockingIOError:
                file.close()
        time.sleep(0.1)


def translate_together(args: argparse.Namespace, given: Any) -> None:
    """Write the translations of each seed's ensemble."""
    from t2t_phrase import registry

    registry.discover()
    sets = [registry.hparams[name]().override(args.hparams) for name in args.set.split(",")]
    runs = [pathlib.Path(run) for run in args.ensemble.split(",")]
    values = []
    for run in runs:
        with np.load(run / "weights.npz") as saved:
            values += [saved[name].astype(np.float32) for name in saved.files]
    translator = Translator(sets, given, args)
    translator.compile(values)
    np.savez_compressed(args.output / "ids.npz", **translator(values))


def log(start: float, text: str) -> None:
    print(f"{time.monotonic() - start:6.1f} s  {text}", flush=True)


class Seeds:
    """The variables of all seeds, stacked, and the update of all of them.

    Args:
        args: the options of the command.
        updates: number of updates.
    """

    def __init__(self, args: argparse.Namespace, updates: int) -> None:
        import jax
        from jax import numpy as jnp

        from t2t_phrase import registry
        from t2t_phrase.training.build import build, make_stepper
        from t2t_phrase.training.distribution import make_strategy
        from t2t_phrase.training.schedules import make_schedule

        registry.discover()
        hparams = registry.hparams[args.set]().override(args.hparams)
        strategy = make_strategy()
        states = []
        self.seeds = [int(seed) for seed in args.seeds.split(",")]
        for seed in self.seeds:
            built = build(
                hparams,
                name=hparams.model,
                vocab_size=args.vocab_size,
                target_vocab_size=None,
                schedule=make_schedule(hparams, train_steps=updates),
                seed=seed,
                strategy=strategy,
            )
            stepper = make_stepper(built, hparams, seed=seed, strategy=strategy)
            states.append(stepper._state())
        self.model, self.hparams = built.model, hparams
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
        self._compiled: dict[Any, Any] = {}

    def update(self, batch: dict[str, np.ndarray]) -> Any:
        """Make an update of every seed, and return its `StepResult`."""
        run = self._compiled[batch["inputs"].shape]
        self.values, self.slots, result = run(*self._arguments(batch))
        return result

    def compile(self, batch: dict[str, np.ndarray]) -> None:
        """Compile the update for a shape."""
        arguments = self._arguments(batch)
        self._compiled[batch["inputs"].shape] = self._update.lower(*arguments).compile()

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


class Translator:
    """Beam search in float32 for the sources of dev and test.

    Args:
        sets: hyperparameters of the models that translate together.
        given: the content of the file of batches.
        args: the options of the command.
    """

    def __init__(self, sets: list[Any], given: Any, args: argparse.Namespace) -> None:
        from t2t_phrase import registry
        from t2t_phrase.models.ensemble import Ensemble

        models = []
        for hparams in sets:
            made = registry.models[hparams.model]
            plain = hparams.replace(dtype_policy="float32")
            models.append(made.from_hparams(plain, vocab_size=args.vocab_size))
        self._model = models[0] if len(models) == 1 else Ensemble(models)
        self._variables = [v for model in models for v in model.trainable_variables]
        self._args = args
        longest = max(given[f"{split}_inputs"].shape[1] for split in ("dev", "test"))
        self._texts, self._orders = {}, {}
        for split in ("dev", "test"):
            rows = given[f"{split}_inputs"].astype(np.int32)
            order = np.argsort(np.count_nonzero(rows, axis=1), kind="stable")
            size = -(-len(rows) // args.rows) * args.rows
            text = np.zeros((size, longest), np.int32)
            text[: len(rows), : rows.shape[1]] = rows[order]
            self._orders[split] = order
            self._texts[split] = np.split(text, size // args.rows)

    def compile(self, values: Any) -> None:
        """Compile the search for variables of these shapes."""
        import jax
        import keras

        from t2t_phrase.decoding.hparams import DecodeHParams
        from t2t_phrase.decoding.search.translate_ids import translate_ids

        search = DecodeHParams(beam_size=self._args.beam_size, alpha=self._args.alpha)

        def translated(values: Any, inputs: Any) -> Any:
            state = list(zip(self._variables, values, strict=True))
            with keras.StatelessScope(state_mapping=state):
                return translate_ids(self._model, {"inputs": inputs}, search).ids

        own = [value[0] for value in values]
        self._translated = jax.jit(translated).lower(own, self._texts["dev"][0]).compile()

    def __call__(self, values: Any) -> dict[str, np.ndarray]:
        """Return the ids of each split, (seeds, sentences, length) int16."""
        found = {}
        for split, parts in self._texts.items():
            order, by_seed = self._orders[split], []
            for number in range(len(values[0])):
                own = [value[number] for value in values]
                ids = np.concatenate([np.asarray(self._translated(own, part)) for part in parts])
                back = np.zeros((len(order), *ids.shape[1:]), np.int16)
                back[order] = ids[: len(order)]
                by_seed.append(back)
            found[split] = np.stack(by_seed)
        return found


if __name__ == "__main__":
    main()
