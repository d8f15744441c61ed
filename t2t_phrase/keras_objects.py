"""Registration of layers and models with Keras, so that `keras.models.load_model` finds them.

Keras knows a class once its module is imported. After `import t2t_phrase`, all these modules are
imported as soon as Keras is, unless this library imports Keras: its user then does not need them.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_FOLDERS = ("t2t_phrase.layers", "t2t_phrase.models")


def register_with_keras() -> None:
    """Import all layers and models if Keras is already imported, else as soon as it is."""
    if "keras" in sys.modules:
        _import_all()
    elif not any(isinstance(finder, _AfterKeras) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterKeras())


def _import_all() -> None:
    for folder in _FOLDERS:
        package = importlib.import_module(folder)
        for found in pkgutil.walk_packages(package.__path__, f"{folder}."):
            importlib.import_module(found.name)


def _is_used_by_the_library() -> bool:
    """Return whether a module of the library that needs Keras is being imported."""
    return any(name.startswith(("t2t_phrase.", "hparams.")) for name in sys.modules.keys() - _LIGHT)


# Modules that are imported with the package itself.
_LIGHT = {"t2t_phrase.keras_objects", "t2t_phrase.layers", "t2t_phrase.registry"}
_LIGHT |= {"t2t_phrase.config"}


class _AfterKeras(importlib.abc.MetaPathFinder):
    """Finds Keras as Python does, and calls `_import_all` after its import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "keras":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None and not _is_used_by_the_library():
            loader: Any = spec.loader
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _import_all()

            loader.exec_module = exec_module
        return spec
