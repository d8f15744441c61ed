"""The start of all scripts: a mistake of the user ends them with a sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn


def run_script(main: Callable[[], object]) -> NoReturn:
    """Run `main` and exit with what it returns; only bugs show their traceback."""
    try:
        code = main()
    except ModuleNotFoundError as error:
        if not error.name or "." in error.name:
            raise
        sys.exit(f"error: the package {error.name} is not installed")
    except Exception as error:
        from t2t_phrase.bin.endings import BUG, ending_of

        ending = ending_of(error)
        if ending.code == BUG:
            raise
        print(ending.text, file=sys.stderr)
        sys.exit(ending.code)
    sys.exit(code)  # type: ignore[arg-type]
