"""A corpus of WMT's size: archives, data generation with kills and by tasks, reading, training.

    python benchmarks/wmt_size.py --folder=FOLDER [--pairs=36000000] [--num_workers=1,2]
    python benchmarks/wmt_size.py --folder=FOLDER --pairs=100000 --train_steps=20  # a trial

Writes archives like those of WMT 2014, English-French (`wmt_files.py`), and runs the commands on
them, each in separate processes: t2t-phrase-datagen with each number of processes; once more with
kills at random times; as tasks, one after the other, and their merge; reading at the beginning and
in the middle of an epoch; and training a small model, interrupted once, with translation of the
test set. Prints a line of JSON for each. Memory is that of all processes of a command together,
without mapped files; disk space is the largest growth of the used space of the folder's disk while
the command runs, so nothing else may write to it. Datagen states how much space it needs.
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
from watched import Watched, watch
from wmt_files import write_archives, write_package

PROBLEM = "translate_enfr_synthetic"
MANIFEST = f"{PROBLEM}-manifest.json"
STATED = re.compile(r"needs about ([\d,.]+) (GB|MB) in (\S+) for")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--folder", required=True, help="an empty or new folder")
    parser.add_argument("--pairs", type=int, default=36_000_000)
    parser.add_argument("--num_workers", default=str(os.cpu_count()), help="such as 1,2")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--num_tasks", type=int, default=3, help="0: none")
    parser.add_argument("--train_steps", type=int, default=300, help="0: no training")
    parser.add_argument("--task", choices=["read"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    folder = pathlib.Path(args.folder).resolve()
    if args.task == "read":
        report(**read(folder))
    else:
        measure(args, folder)


def measure(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Report all parts."""
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    write_archives(folder / "raw", args.pairs)
    seconds = time.monotonic() - start
    say("archives", args, seconds=seconds, bytes=size_of(folder / "raw"))
    write_package(folder / "synthetic", folder / "raw")
    workers = [int(number) for number in args.num_workers.split(",")]
    expected, usual = "", 0.0
    for number in workers:
        # With the archives packed, as they are downloaded.
        for name in ("data", "raw/unpacked"):
            shutil.rmtree(folder / name, ignore_errors=True)
        done = watch(datagen(folder, "data", number), folder)
        expected, usual = (folder / "data" / MANIFEST).read_text(), done.seconds
        say("datagen", args, num_workers=number, **figures(done, args), **split_times(done.output))
    if args.num_tasks:
        run_tasks(args, folder, workers[-1], expected)
    if args.kills:
        run_kills(args, folder, workers[-1], expected, usual)
    read_command = [sys.executable, __file__, f"--folder={folder}", "--task=read"]
    found = watch(read_command, folder)
    reading = json.loads(found.output.splitlines()[-1])
    per_pair = reading.pop("peak_bytes") / args.pairs
    say("reading", args, **reading, bytes_per_pair=per_pair)
    if args.train_steps:
        run_training(args, folder)


def run_tasks(args: argparse.Namespace, folder: pathlib.Path, workers: int, expected: str) -> None:
    """Make the data by tasks in a separate folder, one after the other, and merge them."""
    first = watch(datagen(folder, "tasks", workers, "--only_vocabulary"), folder)
    shares = []
    for index in range(args.num_tasks):
        flags = (f"--task_id={index}", f"--num_tasks={args.num_tasks}")
        shares.append(watch(datagen(folder, "tasks", workers, *flags), folder))
    merged = watch(datagen(folder, "tasks", workers), folder)
    same = (folder / "tasks" / MANIFEST).read_text() == expected
    shutil.rmtree(folder / "tasks")
    # In a new folder, no text has been staged, so that a task reads its share itself.
    shutil.copytree(folder / "data", folder / "own", ignore=not_vocabulary)
    own = watch(
        datagen(
            folder,
            "own",
            workers,
            f"--vocab_file={next((folder / 'own').glob('vocab.*'))}",
            "--task_id=0",
            f"--num_tasks={args.num_tasks}",
        ),
        folder,
    )
    shutil.rmtree(folder / "own")
    say(
        "tasks",
        args,
        num_workers=workers,
        num_tasks=args.num_tasks,
        vocabulary_seconds=first.seconds,
        task_seconds=[round(share.seconds, 1) for share in shares],
        merge_seconds=merged.seconds,
        task_that_reads_seconds=own.seconds,
        peak_mib=max(part.peak_mib for part in (first, *shares, merged, own)),
        same_as_one_process=same,
    )


def not_vocabulary(_: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.startswith("vocab.")]


def run_kills(
    args: argparse.Namespace, folder: pathlib.Path, workers: int, expected: str, usual: float
) -> None:
    """Make the data again, killed at random times and restarted."""
    draw = random.Random(0)
    shutil.rmtree(folder / "data")
    killed, total = [], 0.0
    while True:
        after = draw.uniform(0.05, 0.6) * usual if len(killed) < args.kills else 0.0
        done = watch(datagen(folder, "data", workers), folder, kill_after=after)
        total += done.seconds
        if not done.killed:
            break
        killed.append(round(after, 1))
    same = (folder / "data" / MANIFEST).read_text() == expected
    ratio = total / usual
    say("kills", args, killed_after=killed, seconds=total, ratio=ratio, same_bytes=same)


def run_training(args: argparse.Namespace, folder: pathlib.Path) -> None:
    """Train a small model, resume once, translate the test set and score it."""
    updates = {}
    for steps in (args.train_steps // 2, args.train_steps):
        command = t2t(folder, "trainer", f"--output_dir={folder / 'run'}", f"--train_steps={steps}")
        command += ["--hparams_set=transformer_tiny", f"--local_eval_frequency={steps}"]
        command += ["--hparams=batch_size=2048,learning_rate_warmup_steps=100"]
        command += ["--noeval_run_autoregressive", "--report="]
        updates[steps] = watch(command, folder)
    losses = [re.findall(r"dev loss ([\d.]+)", done.output)[-1] for done in updates.values()]
    data = folder / "data"
    translated = folder / "translated.fr"
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


if __name__ == "__main__":
    main()
