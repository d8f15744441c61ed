"""Translates dev and test with the models of `seeds_together.py`, alone or as ensembles.

    KERAS_BACKEND=jax python benchmarks/seeds_search.py --batches=batches.npz --output=runs/ens \\
        --runs=runs/0,runs/1,runs/2 --sets=A,B,C

For each seed, the models of the runs translate together. `ids.npz` has the same form as a run's.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import pathlib
from typing import Any

import numpy as np
from script import run_script

# As in the published recipe of Multi30k.
BEAM_SIZE, ALPHA = 5, 1.4
# Sentences that are translated at once.
ROWS = 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--batches", required=True, help="written by seed_batches.py")
    options.add_argument("--output", required=True, type=pathlib.Path)
    options.add_argument("--runs", required=True, help="folders written by seeds_together.py")
    options.add_argument("--sets", required=True, help="their sets, as in that command")
    options.add_argument("--reversed", action="store_true", help="exchange source and target")
    args = options.parse_args()
    if args.runs.count(",") != args.sets.count(","):
        options.error("--sets: give as many as --runs")
    values = []
    for run in args.runs.split(","):
        with np.load(pathlib.Path(run) / "weights.npz") as saved:
            values += [saved[name].astype(np.float32) for name in saved.files]
    sets = [hparams_of(name, "") for name in args.sets.split(",")]
    translator = Translator(sets, load_batches(args.batches, exchange=args.reversed))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        translator.start_compilation(values, pool)
    args.output.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.output / "ids.npz", **translator(values))


def load_batches(path: str, *, exchange: bool) -> dict[str, Any]:
    """Return the content of a file of batches, source and target exchanged if wanted."""
    given = dict(np.load(path))
    if exchange:
        for end in ("inputs", "dev_inputs", "test_inputs"):
            other = end.replace("inputs", "targets")
            given[end], given[other] = given[other], given[end]
    return given


def hparams_of(name: str, changes: str) -> Any:
    """Return SET, or SET:NAME=VALUE+NAME=VALUE, with further changes."""
    from t2t_phrase import registry
    from t2t_phrase.comparison import variants

    registry.discover()
    hparams_set, overrides = variants.split(name, changes)
    return registry.hparams[hparams_set]().override(overrides)


class Translator:
    """Beam search in float32 for the sources of dev and test.

    Args:
        sets: hyperparameters of the models that translate together.
        given: the content of the file of batches.
    """

    def __init__(self, sets: list[Any], given: Any) -> None:
        from t2t_phrase import registry
        from t2t_phrase.models.ensemble import Ensemble

        models = []
        for hparams in sets:
            made = registry.models[hparams.model]
            plain = hparams.replace(dtype_policy="float32")
            models.append(made.from_hparams(plain, vocab_size=int(given["vocab_size"])))
        self._model = models[0] if len(models) == 1 else Ensemble(models)
        self._variables = [v for model in models for v in model.trainable_variables]
        longest = max(given[f"{split}_inputs"].shape[1] for split in ("dev", "test"))
        self._counts, self._texts = {}, {}
        for split in ("dev", "test"):
            rows = given[f"{split}_inputs"].astype(np.int32)
            missing = (0, -len(rows) % ROWS), (0, longest - rows.shape[1])
            text = np.pad(rows, missing)
            self._counts[split] = len(rows)
            self._texts[split] = np.split(text, len(text) // ROWS)

    def start_compilation(self, values: Any, pool: Any) -> None:
        """Let a thread of the pool compile the search for variables of these shapes."""
        import jax
        import keras

        from t2t_phrase.decoding.hparams import DecodeHParams
        from t2t_phrase.decoding.search.translate_ids import translate_ids

        search = DecodeHParams(beam_size=BEAM_SIZE, alpha=ALPHA)

        def translated(values: Any, inputs: Any) -> Any:
            state = list(zip(self._variables, values, strict=True))
            with keras.StatelessScope(state_mapping=state):
                return translate_ids(self._model, {"inputs": inputs}, search).ids[:, 0]

        own = [value[0] for value in values]
        lowered = jax.jit(translated).lower(own, self._texts["dev"][0])
        self._translated = pool.submit(lowered.compile)

    def __call__(self, values: Any) -> dict[str, np.ndarray]:
        """Return the ids of each split, (seeds, sentences, length) int16."""
        found, translated = {}, self._translated.result()
        for split, parts in self._texts.items():
            by_seed = []
            for number in range(len(values[0])):
                own = [value[number] for value in values]
                ids = np.concatenate([np.asarray(translated(own, part)) for part in parts])
                by_seed.append(ids[: self._counts[split]].astype(np.int16))
            found[split] = np.stack(by_seed)
        return found


if __name__ == "__main__":
    run_script(main)
