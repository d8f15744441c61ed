"""Speed of a Transformer or an LSTM compared with other toolkits, on the same work, in turn.

    python benchmarks/compare_toolkits.py --opennmt_tf=env1/bin/python \\
        --transformers=env2/bin/python --ctranslate2=env2/bin/python

Each of these flags names the Python of an environment in which that toolkit is installed as
described in `toolkit_*.py`; toolkits without a flag are left out. The model is `transformer_base`,
or with --model=recurrent that of `recurrent.py`, which only OpenNMT-tf has as well. Training: an
update of 32 pairs of 32 tokens; decoding: by default 32 sentences of 24 tokens into 32 tokens each,
beam size 4. This library and CTranslate2 decode them in two parts at the same time, with one thread
each, and as a whole, with two threads; XLA decodes them as a whole. In each of --rounds, every
toolkit runs once in a separate process. Prints a table of the medians over the rounds, as multiples
of this library's float32 in graph mode.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys

from measure import THREADS
from script import run_script

from t2t_phrase.comparison.table import grid

FOLDER = pathlib.Path(__file__).parent
OURS = (
    ("t2t_phrase, float32", ()),
    ("t2t_phrase, float32, XLA", ("--xla",)),
    ("t2t_phrase, mixed_bfloat16", ("--dtype=mixed_bfloat16",)),
)


def commands(args: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """Return a name and a command for everything that is timed."""
    repeats = f"--repeats={args.repeats}"
    if args.task == "train":
        sizes = [f"--rows={args.rows}", f"--length={args.rows}"]
        own = ["train_step.py", f"--sizes={args.rows}", repeats]
    else:
        sizes = [f"--rows={args.rows}", f"--source={args.source}", f"--target={args.target}"]
        sizes.append(f"--beam={args.beam}")
        own = ["decode.py", *sizes, repeats]
    theirs = [f"--task={args.task}", repeats, *sizes]
    if args.model == "recurrent":
        own = ["recurrent.py", *theirs]
    made = [(name, [sys.executable, *own, *flags]) for name, flags in OURS]
    if args.task == "decode" and args.model == "transformer":
        made.append(("t2t_phrase, int8", [sys.executable, *own, "--quantize=int8"]))
    if args.task == "decode" and args.model == "transformer":
        # XLA decodes everything whole.
        made += [
            (f"{name}, whole", [*command, "--whole"])
            for name, command in made
            if "--xla" not in command
        ]
    if args.opennmt_tf:
        script = ["toolkit_opennmt_tf.py", f"--model={args.model}", *theirs]
        made.append(("OpenNMT-tf", [args.opennmt_tf, *script]))
    if args.transformers:
        made.append(("transformers", [args.transformers, "toolkit_transformers.py", *theirs]))
    if args.ctranslate2 and args.task == "decode":
        for kind in args.compute_types.split(","):
            script = ["toolkit_ctranslate2.py", *theirs, f"--compute_type={kind}"]
            for workers in (1, THREADS):
                command = [args.ctranslate2, *script, f"--workers={workers}"]
                made.append((f"CTranslate2, {kind}, workers={workers}", command))
    return made


def program(name: str) -> str | None:
    """Return the absolute path of a program, since scripts run in another folder; None: none."""
    found = shutil.which(name)
    return found and os.path.abspath(found)


def tokens_per_second(command: list[str]) -> tuple[str, float]:
    """Run a command; return the name that it reports and its speed.

    Raises:
        RuntimeError: the command failed; the message has the last lines of its error output.
    """
    made = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    lines = [line for line in made.stdout.splitlines() if line.startswith("{")]
    if made.returncode or not lines:
        raise RuntimeError("\n".join(made.stderr.splitlines()[-3:]))
    found = json.loads(lines[-1])
    return found.get("toolkit", ""), found["tokens_per_second"]


def main() -> int:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--task", default="train", choices=["train", "decode"])
    made.add_argument("--model", default="transformer", choices=["transformer", "recurrent"])
    made.add_argument("--opennmt_tf", help="Python with OpenNMT-tf")
    made.add_argument("--transformers", help="Python with torch and transformers")
    made.add_argument("--ctranslate2", help="Python with ctranslate2; for decoding")
    made.add_argument("--compute_types", default="float32,int8", help="of CTranslate2")
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--repeats", type=int, default=5, help="timed runs in each round")
    made.add_argument("--rows", type=int, default=32, help="sentences")
    made.add_argument("--source", type=int, default=24, help="decoding: source tokens of each")
    made.add_argument("--target", type=int, default=32, help="decoding: tokens of translations")
    made.add_argument("--beam", type=int, default=4, help="decoding: size of the beam")
    args = made.parse_args()
    if args.model == "recurrent" and (args.transformers or args.ctranslate2):
        made.error("--model=recurrent: only OpenNMT-tf has such a model")
    for name in ("opennmt_tf", "transformers", "ctranslate2"):
        if given := getattr(args, name):
            setattr(args, name, program(given) or made.error(f"--{name}={given}: no such program"))
    speeds, names, failed = collections.defaultdict(list), {}, set()
    for turn in range(1, args.rounds + 1):
        for name, command in commands(args):
            if name in failed:
                continue
            try:
                full, speed = tokens_per_second(command)
            except RuntimeError as problem:
                failed.add(name)
                print(f"error: {name}: {problem}", file=sys.stderr)
                continue
            names[name] = full or name
            speeds[name].append(speed)
            print(f"round {turn}/{args.rounds}  {names[name]}: {speed:.0f} tokens/s", flush=True)
    first = OURS[0][0]
    if first not in speeds:
        return 1
    base = statistics.median(speeds[first])
    rows = [
        [
            names[name],
            f"{statistics.median(found) / base:.2f}",
            f"{min(found) / base:.2f} to {max(found) / base:.2f}",
        ]
        for name, found in speeds.items()
    ]
    print(grid([["toolkit", "speed", "range"], *rows]))
    print(f"\n```\npython {shlex.join(['benchmarks/compare_toolkits.py', *sys.argv[1:]])}\n```")
    return 1 if failed else 0


if __name__ == "__main__":
    run_script(main)
