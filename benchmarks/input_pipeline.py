"""Data at scale: generation and reading of a synthetic corpus, speed and peak memory.

    python benchmarks/input_pipeline.py --pairs=200000 [--base=REVISION]
    python benchmarks/input_pipeline.py --pairs=5000000

Writes random sentences of Zipf-distributed words, makes data from them with t2t-phrase-datagen, and
reads the data as training does, each in a separate process. Reports the pairs per second, the
seconds until the first batch at the beginning and in the middle of an epoch, and the peak of the
anonymous memory of a process; mapped files do not count, as the system reclaims them when it needs
memory. With --base, another revision makes and reads its own data in turn with this one; the ratios
are those of medians.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

import numpy as np
from compare_commits import unpack
from measure import report
from script import run_script

BATCH = {"batch_size": 4096, "max_length": 256, "min_length_bucket": 8, "length_bucket_step": 1.1}
WORDS, LONGEST = 50_000, 80
BLOCK = 50_000


class PeakMemory(threading.Thread):
    """Watches the growth of this process's anonymous memory; `peak` is in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.before = 0, anonymous_memory()
        self.start()

    def run(self) -> None:
        while True:
            self.peak = max(self.peak, anonymous_memory() - self.before)
            time.sleep(0.01)


def anonymous_memory() -> int:
    """Return the resident memory of this process in bytes, without mapped files."""
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    found = next(line for line in status.splitlines() if line.startswith("RssAnon"))
    return int(found.split()[1]) * 1024


def write_text(folder: pathlib.Path, pairs: int) -> None:
    """Write train and dev files of random sentences, in constant memory."""
    folder.mkdir()
    random = np.random.default_rng(0)
    words = np.array([f"{'abcdefgh'[i % 8]}{i:x}" for i in range(WORDS)])
    for split, size in (("train", pairs), ("dev", 500)):
        for suffix in ("src", "tgt"):
            with open(folder / f"{split}.{suffix}", "w", encoding="ascii") as file:
                for start in range(0, size, BLOCK):
                    for line in sentences(random, words, min(BLOCK, size - start)):
                        file.write(line)


def sentences(random: np.random.Generator, words: np.ndarray, count: int) -> Iterator[str]:
    """Yield lines whose lengths are distributed like those of news, about 25 words on average."""
    lengths = np.clip(random.gamma(3.0, 8.0, count), 1, LONGEST).astype(int)
    ends = np.cumsum(lengths)
    drawn = words[(random.zipf(1.3, ends[-1]) - 1) % len(words)].tolist()
    for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True):
        yield " ".join(drawn[start:end]) + "\n"


def generate_data(data: str, raw: str) -> dict[str, float]:
    """Make the data in this process and in those that it starts."""
    from t2t_phrase.data.generation.generate import generate
    from t2t_phrase.data.generation.options import GenerateOptions
    from t2t_phrase.data.problem import get_problem

    start = time.perf_counter()
    generate(
        get_problem("translate_text"),
        data,
        raw,
        options=GenerateOptions(vocab_size=8000),
        log=lambda line: None,
    )
    return {"datagen_seconds": time.perf_counter() - start}


def read_data(data: str, pairs: int) -> dict[str, float]:
    """Read the training data: at most one epoch, then resume in the middle of it."""
    from t2t_phrase.data.input.buckets import Buckets
    from t2t_phrase.data.input.pipeline import Position, TrainingPipeline
    from t2t_phrase.data.input.reader import RecordReader
    from t2t_phrase.data.problem import get_problem

    files = get_problem("translate_text").record_files(data, "train")
    memory = PeakMemory()
    pipeline = TrainingPipeline(RecordReader(tuple(files)), Buckets.build(**BATCH), 1)
    start = time.perf_counter()
    stream = pipeline.batches()
    next(stream)
    first = time.perf_counter() - start
    start, busy = time.perf_counter(), time.process_time()
    rows = batches = 0
    for batch in itertools.takewhile(lambda batch: not batch.position.epoch, stream):
        rows += int(np.count_nonzero(batch.inputs[:, 0]))
        batches += 1
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    start = time.perf_counter()
    next(pipeline.batches(Position(0, batches // 2)))
    return {
        "pairs_per_second": rows / seconds,
        "pairs_per_cpu_second": rows / busy,
        "first_batch_seconds": first,
        "resumed_batch_seconds": time.perf_counter() - start,
        "peak_mib": memory.peak / 2**20,
        "bytes_per_pair": memory.peak / pairs,
    }


def in_a_process(package: pathlib.Path | None, task: str, *arguments: str) -> dict[str, float]:
    """Return the report of a task in its own process, of this revision or another one."""
    environment = dict(os.environ)
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    command = [sys.executable, os.path.abspath(__file__), f"--task={task}", *arguments]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    _, code, usage = os.wait4(process.pid, 0)
    if code:
        raise SystemExit("the benchmark failed, see above")
    # The largest of its processes counts, mapped files included.
    return {
        **json.loads(said),
        f"{task}_largest_process_mib": usage.ru_maxrss / 1024,
        f"{task}_cpu_seconds": usage.ru_utime + usage.ru_stime,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--base", help="revision to compare with")
    parser.add_argument("--repeats", type=int, default=3, help="of reading")
    parser.add_argument("--folder", help="where to write some 400 bytes for each pair")
    parser.add_argument("--task", choices=["generate", "read"], help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.task == "generate":
        report(**generate_data(*args.arguments))
    elif args.task == "read":
        report(**read_data(args.arguments[0], int(args.arguments[1])))
    else:
        compare(args)


def compare(args: argparse.Namespace) -> None:
    """Report both revisions, and their ratios."""
    with tempfile.TemporaryDirectory(dir=args.folder) as temporary:
        folder = pathlib.Path(temporary)
        write_text(folder / "raw", args.pairs)
        packages: dict[str, pathlib.Path | None] = {"new": None}
        if args.base:
            unpack(args.base, folder / "package")
            packages = {"base": folder / "package", "new": None}
        made = {
            name: in_a_process(package, "generate", str(folder / name), str(folder / "raw"))
            for name, package in packages.items()
        }
        runs: dict[str, list[dict[str, float]]] = {name: [] for name in packages}
        for _ in range(args.repeats):
            for name, package in packages.items():
                found = in_a_process(package, "read", str(folder / name), str(args.pairs))
                runs[name].append(found)
        medians = {
            name: made[name] | {key: statistics.median(r[key] for r in found) for key in found[0]}
            for name, found in runs.items()
        }
        for name, figures in medians.items():
            rounded = {key: float(f"{value:.4g}") for key, value in figures.items()}
            report(benchmark="input_pipeline", revision=name, pairs=args.pairs, **rounded)
        if args.base:
            report(
                ratios={
                    key: float(f"{medians['new'][key] / medians['base'][key]:.3g}")
                    for key in medians["new"]
                }
            )


if __name__ == "__main__":
    run_script(main)
