"""t2t-phrase: runs any command of the library, `t2t-phrase trainer ...`.

`python -m t2t_phrase trainer ...` does the same.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pathlib
import sys
from typing import NoReturn

import t2t_phrase
from t2t_phrase.bin import COMMANDS
from t2t_phrase.config import clipped, nearest


def run() -> NoReturn:
    """Start the command that the first argument names, with the other arguments."""
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(overview())
        sys.exit(0)
    name, *rest = arguments
    if name == "--version":
        print(f"t2t-phrase {t2t_phrase.__version__}")
        sys.exit(0)
    name = name.removeprefix("t2t-phrase-")
    if name not in COMMANDS:
        hint = nearest(name, COMMANDS) or f"; known: {', '.join(COMMANDS)}"
        print(f"error: command {clipped(name)!r} is unknown{hint}", file=sys.stderr)
        sys.exit(2)
    sys.argv = [f"t2t-phrase-{name}", *rest]
    importlib.import_module(COMMANDS[name]).run()
    raise AssertionError("a command always exits")


def overview() -> str:
    """Return the commands, each with its purpose, in the order of their use."""
    width = max(map(len, COMMANDS))
    lines = ["t2t-phrase COMMAND --help shows the flags of a command:", ""]
    lines += [f"  {name:<{width}}  {_purpose(module)}" for name, module in COMMANDS.items()]
    return "\n".join(lines)


def _purpose(module: str) -> str:
    """Return the first sentence of a command's docstring, without importing the command."""
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    document = ast.get_docstring(ast.parse(pathlib.Path(spec.origin).read_text("utf-8"))) or ""
    return document.partition("\n")[0].partition(": ")[2].rstrip(".")


if __name__ == "__main__":
    run()
