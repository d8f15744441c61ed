"""Keras layers, one public class per file, accessible as in `t2t_phrase.layers.InterleavedQueryK`.

A module is imported when one of its layers is first used, or all with Keras, see `keras_objects`.
"""

from __future__ import annotations

import ast
import functools
import importlib
import pathlib
from typing import Any

# First, so that a file of any model can be loaded later, see `keras_objects`.
import keras  # noqa: F401


@functools.cache
def _modules() -> dict[str, str]:
    """Return the module of each public class, without importing any."""
    root = pathlib.Path(__file__).parent
    found = {}
    for path in sorted(root.glob("*/*.py")):
        module = f"{__name__}.{path.parent.name}.{path.stem}"
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name] = module
    return found


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in _modules():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_modules()[name]), name)


def __dir__() -> list[str]:
    return sorted(_modules())
