"""The command line that all experiments have."""

from __future__ import annotations

import argparse
import shlex
import sys


def experiment_parser(document: str, *, trains: bool = True) -> argparse.ArgumentParser:
    """Return a parser with the flags of all experiments.

    Args:
        document: the script's docstring.
        trains: whether the problem must be named; trained runs know theirs.
    """
    description, _, rest = document.partition("\n")
    made = argparse.ArgumentParser(
        description=description, epilog=rest, formatter_class=argparse.RawTextHelpFormatter
    )
    if trains:
        made.add_argument("--problem", required=True)
    made.add_argument("--data_dir", required=True, help="output folder of t2t-phrase-datagen")
    made.add_argument("--work_dir", required=True, help="folder for all output")
    return made


def called(script: str) -> str:
    """Return the command line of this experiment.

    Args:
        script: its file in benchmarks/.
    """
    return f"python {shlex.join([f'benchmarks/{script}', *sys.argv[1:]])}"
