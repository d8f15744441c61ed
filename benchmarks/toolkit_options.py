"""The options of the scripts that `compare_toolkits.py` runs for other toolkits."""

from __future__ import annotations

import argparse

VOCAB = 32_000


def options(description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a toolkit's script."""
    made = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    made.add_argument("--task", choices=["train", "decode"], required=True)
    made.add_argument("--repeats", type=int, default=5, help="timed runs; the median is reported")
    add_sizes(made)
    return made


def add_sizes(made: argparse.ArgumentParser) -> None:
    """Add the options for the sizes of the work."""
    made.add_argument("--rows", type=int, default=32, help="sentences")
    made.add_argument("--length", type=int, default=32, help="training: tokens of both sides")
    made.add_argument("--source", type=int, default=24, help="decoding: source tokens")
    made.add_argument("--target", type=int, default=32, help="decoding: tokens of translations")
    made.add_argument("--beam", type=int, default=4, help="decoding: size of the beam")
