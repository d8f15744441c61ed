"""Growth of memory in training: the resident set over many steps and evaluations.

    python benchmarks/memory.py --steps=2000 --evaluations=200 [--trim]

A tiny Transformer trains on random sentences through the library's own loop: batches of all
shapes, checkpoints, evaluations with translation and BLEU, TensorBoard scalars. After each
evaluation the resident memory is read. The first fifth is warm-up, in which every shape is
traced; the slope is that of a straight line through the rest. Some megabytes of growth are freed
memory that the allocator of the C library keeps in pieces, for each thread. With --trim, the
allocator has one heap for all threads and gives free memory back before each reading, so that only
memory in use is left.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import pathlib
import random
import sys
import tempfile
from collections.abc import Sequence

import numpy as np
from script import run_script

PAGE = os.sysconf("SC_PAGE_SIZE")
WORDS = ("the", "old", "house", "and", "a", "small", "cat", "in", "it", "while", "dogs", "run")
WARM_UP = 0.2


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * PAGE


def trim() -> None:
    """Give free memory back to the system; only glibc has a function for that."""
    release = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if release is not None:
        release(0)


def slope(values: Sequence[float]) -> float:
    """Return the growth per value of the straight line that fits best."""
    return float(np.polyfit(np.arange(len(values)), values, 1)[0])


def measure(
    folder: pathlib.Path, *, steps: int, evaluations: int, trimmed: bool = False
) -> list[int]:
    """Train in a new folder; return the resident memory after each evaluation.

    Args:
        folder: an empty folder.
        steps: number of training steps.
        evaluations: number of evaluations, at equal distances.
        trimmed: whether to give free memory back before each reading.
    """
    from t2t_phrase import registry
    from t2t_phrase.api.dev_bleu import dev_bleu
    from t2t_phrase.data.generation.generate import generate
    from t2t_phrase.data.problem import get_problem
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.training.distribution import make_strategy
    from t2t_phrase.training.loop_options import LoopOptions
    from t2t_phrase.training.run_options import RunOptions
    from t2t_phrase.training.setup import prepare

    def quiet(text: str) -> None:
        pass

    registry.discover()
    write_corpus(folder / "corpus")
    problem = get_problem("translate_text")
    generate(problem, str(folder / "data"), str(folder / "corpus"), log=quiet)
    hparams = registry.hparams["transformer_tiny"]().replace(
        hidden_size=32, filter_size=64, num_heads=2, batch_size=512, max_length=32
    )
    options = RunOptions(
        problem=problem,
        data_dir=str(folder / "data"),
        output_dir=str(folder / "run"),
        model=hparams.model,
        hparams_set="transformer_tiny",
        overrides="",
        hparams=hparams,
        random_seed=1,
        keep_checkpoint_max=2,
    )
    found: list[int] = []

    def log(text: str) -> None:
        if ": dev " in text:
            gc.collect()
            if trimmed:
                trim()
            found.append(resident())

    run = prepare(
        options,
        LoopOptions(
            train_steps=steps,
            local_eval_frequency=max(1, steps // evaluations),
            log_step_count_steps=max(1, steps // evaluations),
        ),
        strategy=make_strategy(),
        bleu=dev_bleu(options, DecodeHParams(beam_size=2, extra_length=4), log=quiet),
        log=log,
    )
    run.trainer.train()
    return found


def write_corpus(folder: pathlib.Path) -> None:
    """Write random sentences of 1 to 20 words; the targets are the sources in reverse."""
    folder.mkdir(parents=True)
    draw = random.Random(1)
    for split, count in (("train", 2000), ("dev", 20), ("test", 1)):
        lines = [draw.choices(WORDS, k=draw.randint(1, 20)) for _ in range(count)]
        for side, order in (("src", 1), ("tgt", -1)):
            text = "".join(" ".join(line[::order]) + "\n" for line in lines)
            (folder / f"{split}.{side}").write_text(text)


def main() -> None:
    """Print the memory at ten moments and the slope."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--trim", action="store_true", help="measure memory in use only")
    args = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if args.trim and "MALLOC_ARENA_MAX" not in os.environ:
        # The variable is read when a process starts.
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "MALLOC_ARENA_MAX": "1"})
    with tempfile.TemporaryDirectory() as folder:
        found = measure(
            pathlib.Path(folder),
            steps=args.steps,
            evaluations=args.evaluations,
            trimmed=args.trim,
        )
    settled = found[int(len(found) * WARM_UP) :]
    for index in np.linspace(0, len(found) - 1, 10).astype(int):
        print(f"evaluation {index + 1:>4}: {found[index] / 2**20:8.1f} MiB")
    result = {
        "steps": args.steps,
        "evaluations": len(found),
        "trimmed": args.trim,
        "mib_after_warm_up": round(settled[0] / 2**20, 1),
        "mib_at_the_end": round(settled[-1] / 2**20, 1),
        "kib_per_evaluation": round(slope(settled) / 2**10, 2),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    run_script(main)
