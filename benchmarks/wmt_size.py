"""A corpus of WMT's size: archives, data generation with kills and by tasks, reading, training.

    python benchmarks/wmt_size.py --folder=FOLDER [--pairs=36000000] [--num_workers=1,2]
    python benchmarks/wmt_size.py --folder=FOLDER --parts=kills,tasks  # others later, same folder
    python benchmarks/wmt_size.py --folder=FOLDER --pairs=100000 --train_steps=20  # a trial

Each part is a separate run of the commands, and prints a line of JSON:

- archives: writes archives like those of WMT 2014, English-French (`wmt_files.py`).
- datagen: t2t-phrase-datagen with each number of processes.
- kills: t2t-phrase-datagen killed at random times and restarted.
- tasks: the same data by tasks, one after the other, and their merge.
- task_alone: a task that has the vocabulary and the unpacked archives, but no staged text.
- reading: the first batch of an epoch, and the first one after resuming in its middle.
- training: a small model, interrupted once, and translation of the test set.

All data must equal those of the first part that made any. Memory is that of all processes of a
command together, without mapped files; disk space is the largest growth of the used space of the
folder's disk while the command runs, so nothing else may write to it. Datagen states how much space
it needs.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import sys
import time

from input_pipeline import BATCH, PeakMemory
from measure import report
from script import run_script
from watched import Watched, watch
from wmt_files import write_archives, write_package

PROBLEM = "translate_enfr_synthetic"
MANIFEST = f"{PROBLEM}-manifest.json"
# A rough rate of one process, from which the times of the kills are drawn.
PAIRS_PER_SECOND = 15_000
STATED = re.compile(r"needs about ([\d,.]+) (GB|MB) in (\S+) for")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", required=True, help="a new folder, or one of earlier parts")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--pairs", type=int, default=36_000_000)
    parser.add_argument("--num_workers", default=str(os.cpu_count()), help="such as 1,2")
    parser.add_argument("--vocab_file", default="", help="for datagen; empty: learned")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--num_tasks", type=int, default=3)
    parser.add_argument("--train_steps", type=int, default=300)
    parser.add_argument("--task", choices=["read"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    folder = pathlib.Path(args.folder).resolve()
    if args.task == "read":
        report(**read(folder))
        return
    parts = args.parts.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"--parts: unknown {sorted(unknown)}; known: {', '.join(PARTS)}.")
    raw = folder / "raw"
    if raw.exists() and "archives" in parts:
        parser.error(f"--parts: {raw} exists; delete it, or leave out archives")
    if not raw.exists() and "archives" not in parts:
        parser.error(f"--parts: {raw} does not exist; begin with archives")
    for name, run in PARTS.items():
        if name in parts:
            run(args, folder)


def run_archives(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Write the archives, and the problem that reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    write_archives(folder / "raw", args.pairs)
    seconds = time.monotonic() - start
    say("archives", args, seconds=seconds, bytes=size_of(folder / "raw"))
    write_package(folder / "synthetic", folder / "raw")


def run_datagen(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Make the data with each number of processes."""
    vocabulary = [f"--vocab_file={args.vocab_file}"] if args.vocab_file else []
    for number in workers_of(args):
        start_over(folder)
        done = watch(datagen(folder, "data", number, *vocabulary), folder)
        say(
            "datagen",
            args,
            num_workers=number,
            same_bytes=same_bytes(folder, "data"),
            **figures(done, args),
            **split_times(done.output),
        )


def run_tasks(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Make the data by tasks in a separate folder, one after the other, and merge them."""
    workers = workers_of(args)[-1]
    first = watch(datagen(folder, "tasks", workers, "--only_vocabulary"), folder)
    shares = []
    for index in range(args.num_tasks):
        flags = (f"--task_id={index}", f"--num_tasks={args.num_tasks}")
        shares.append(watch(datagen(folder, "tasks", workers, *flags), folder))
    merged = watch(datagen(folder, "tasks", workers), folder)
    same = same_bytes(folder, "tasks")
    shutil.rmtree(folder / "tasks")
    say(
        "tasks",
        args,
        num_workers=workers,
        num_tasks=args.num_tasks,
        vocabulary_seconds=first.seconds,
        task_seconds=[round(share.seconds, 1) for share in shares],
        merge_seconds=merged.seconds,
        peak_mib=max(part.peak_mib for part in (first, *shares, merged)),
        same_bytes=same,
    )


def run_task_alone(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Run a task in a new folder, where no text has been staged: it reads its share itself."""
    workers = workers_of(args)[-1]
    shutil.copytree(folder / "data", folder / "own", ignore=not_vocabulary)
    vocabulary = f"--vocab_file={next((folder / 'own').glob('vocab.*'))}"
    task = ("--task_id=0", f"--num_tasks={args.num_tasks}")
    own = watch(datagen(folder, "own", workers, vocabulary, *task), folder)
    shutil.rmtree(folder / "own")
    say(
        "task_alone",
        args,
        num_workers=workers,
        num_tasks=args.num_tasks,
        seconds=own.seconds,
        peak_mib=own.peak_mib,
    )


def not_vocabulary(_: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith("vocab.")]


def run_kills(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Make the data, killed at random times and restarted."""
    workers = workers_of(args)[-1]
    draw = random.Random(0)
    start_over(folder)
    expected = args.pairs / PAIRS_PER_SECOND / workers
    killed, total, peak = [], 0.0, 0.0
    while True:
        after = draw.uniform(0.05, 0.6) * expected if len(killed) < args.kills else 0.0
        done = watch(datagen(folder, "data", workers), folder, kill_after=after)
        total, peak = total + done.seconds, max(peak, done.peak_mib)
        if not done.killed:
            break
        killed.append(round(after, 1))
    say(
        "kills",
        args,
        num_workers=workers,
        killed_after=killed,
        seconds=total,
        last_seconds=done.seconds,
        peak_mib=peak,
        same_bytes=same_bytes(folder, "data"),
    )


def run_reading(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Read the first batches of an epoch and after resuming, in a process of their own."""
    found = watch([sys.executable, __file__, f"--folder={folder}", "--task=read"], folder)
    reading = json.loads(found.output.splitlines()[-1])
    per_pair = reading.pop("peak_bytes") / args.pairs
    say("reading", args, **reading, bytes_per_pair=per_pair)


def run_training(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Train a small model, resume once, translate the test set and score it."""
    updates = {}
    translated = folder / "translated.fr"
    # Of an earlier command.
    shutil.rmtree(folder / "run", ignore_errors=True)
    translated.unlink(missing_ok=True)
    for steps in (args.train_steps // 2, args.train_steps):
        command = t2t(folder, "trainer", f"--output_dir={folder / 'run'}", f"--train_steps={steps}")
        command += ["--hparams_set=transformer_tiny", f"--local_eval_frequency={steps}"]
        command += ["--hparams=batch_size=2048,learning_rate_warmup_steps=100"]
        command += ["--noeval_run_autoregressive", "--report="]
        updates[steps] = watch(command, folder)
    losses = [re.findall(r"dev loss ([\d.]+)", done.output)[-1] for done in updates.values()]
    data = folder / "data"
    decode = [sys.executable, "-m", "t2t_phrase.bin.decoder", f"--output_dir={folder / 'run'}"]
    decode += [f"--decode_from_file={data / f'{PROBLEM}-test.en'}", f"--data_dir={data}"]
    decode += [f"--decode_to_file={translated}", "--decode_hparams=beam_size=1"]
    decode += [f"--t2t_usr_dir={folder / 'synthetic'}"]
    watch(decode, folder)
    score = [sys.executable, "-m", "t2t_phrase.bin.eval", f"--translation={translated}"]
    scored = watch([*score, f"--reference={data / f'{PROBLEM}-test.fr'}"], folder)
    say(
        "training",
        args,
        train_steps=args.train_steps,
        dev_losses=[float(loss) for loss in losses],
        bleu=next(line for line in scored.output.splitlines() if "BLEU" in line),
        seconds=[round(done.seconds, 1) for done in updates.values()],
        peak_mib=max(done.peak_mib for done in updates.values()),
    )


def read(folder: pathlib.Path) -> dict[str, float]:
    """Time the first batch of an epoch, and one in the middle of it, in this process."""
    import numpy as np

    from t2t_phrase import registry
    from t2t_phrase.data.input.buckets import Buckets
    from t2t_phrase.data.input.pipeline import Position, TrainingPipeline
    from t2t_phrase.data.input.plan import buckets_of, epoch_order, plan_epoch
    from t2t_phrase.data.input.reader import RecordReader
    from t2t_phrase.data.problem import get_problem

    registry.discover(str(folder / "synthetic"))
    files = tuple(get_problem(PROBLEM).record_files(str(folder / "data"), "train"))
    memory = PeakMemory()
    buckets = Buckets.build(**BATCH)
    start = time.perf_counter()
    pairs = RecordReader(files).open()
    opened = time.perf_counter() - start
    start = time.perf_counter()
    order = epoch_order(len(pairs), np.random.default_rng(0))
    batches = len(plan_epoch(order, buckets_of(pairs, buckets), buckets))
    planned = time.perf_counter() - start
    del pairs, order
    pipeline = TrainingPipeline(RecordReader(files), buckets, 1)
    seconds = []
    for position in (Position(), Position(0, batches // 2)):
        start = time.perf_counter()
        next(pipeline.batches(position))
        seconds.append(time.perf_counter() - start)
    return {
        "batches": batches,
        "open_seconds": opened,
        "plan_seconds": planned,
        "first_batch_seconds": seconds[0],
        "resumed_batch_seconds": seconds[1],
        "resumed_to_first": seconds[1] / seconds[0],
        "peak_bytes": memory.peak,
    }


def workers_of(args: argparse.Namespace) -> list[int]:
    return [int(number) for number in args.num_workers.split(",")]


def start_over(folder: pathlib.Path) -> None:
    """Leave only the packed archives, as they are downloaded."""
    for name in ("data", "raw/unpacked"):
        shutil.rmtree(folder / name, ignore_errors=True)


def same_bytes(folder: pathlib.Path, data: str) -> bool:
    """Return whether the data equal those that were made first, from their checksums."""
    found = (folder / data / MANIFEST).read_text()
    first = folder / "first-manifest.json"
    if not first.exists():
        first.write_text(found)
    return found == first.read_text()


def t2t(folder: pathlib.Path, command: str, *flags: str, data: str = "data") -> list[str]:
    """Return a command for the problem."""
    own = [f"--problem={PROBLEM}", f"--t2t_usr_dir={folder / 'synthetic'}"]
    module = f"t2t_phrase.bin.{command}"
    return [sys.executable, "-m", module, *own, f"--data_dir={folder / data}", *flags]


def datagen(folder: pathlib.Path, data: str, workers: int, *flags: str) -> list[str]:
    """Return the command that makes the data."""
    raw = f"--tmp_dir={folder / 'raw'}"
    return t2t(folder, "datagen", raw, f"--num_workers={workers}", *flags, data=data)


def figures(done: Watched, args: argparse.Namespace) -> dict[str, float]:
    """Return rate, memory and disk space of a run of datagen."""
    # In bytes, by folder; later statements are more exact.
    stated: dict[str, float] = {}
    for number, unit, folder in STATED.findall(done.output):
        stated[folder] = float(number.replace(",", "")) * (1e9 if unit == "GB" else 1e6)
    return {
        "seconds": done.seconds,
        "pairs_per_second": args.pairs / done.seconds,
        "peak_mib": done.peak_mib,
        "disk_stated_bytes": sum(stated.values()),
        "disk_used_bytes": done.peak_disk_bytes,
    }


def split_times(output: str) -> dict[str, str]:
    """Return the lines of datagen about reading and encoding, by name."""
    found = {}
    for line in output.splitlines():
        for part in ("train: read", "encoded"):
            if re.search(rf"{part}: .* sentence pairs.* a second$", line):
                found[part.rpartition(" ")[2]] = line.rpartition(f"{part}: ")[2]
    return found


def size_of(folder: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def say(part: str, args: argparse.Namespace, **values: object) -> None:
    rounded = {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in values.items()}
    report(benchmark="wmt_size", part=part, pairs=args.pairs, **rounded)


PARTS = {
    "archives": run_archives,
    "datagen": run_datagen,
    "kills": run_kills,
    "tasks": run_tasks,
    "task_alone": run_task_alone,
    "reading": run_reading,
    "training": run_training,
}


if __name__ == "__main__":
    run_script(main)
