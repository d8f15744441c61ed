"""The command line and the report that all experiments have."""

from __future__ import annotations

import argparse
import json
import pathlib
import shlex
import sys
from typing import Any


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
    made.add_argument("--data_dir", required=True, help="folder of t2t-phrase-datagen")
    made.add_argument("--work_dir", required=True, help="folder for all output")
    return made


def called(script: str) -> str:
    """Return the command line of this experiment.

    Args:
        script: its file.
    """
    return f"python {shlex.join([f'benchmarks/{script}', *sys.argv[1:]])}"


def write_report(work_dir: pathlib.Path, name: str, text: str, content: dict[str, Any]) -> None:
    """Print a table; write it to `name`.md, and its content to `name`.json."""
    (work_dir / f"{name}.md").write_text(text, encoding="utf-8")
    (work_dir / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n")
    print(f"\n{text}\nwritten to {work_dir / name}.md and {name}.json")
