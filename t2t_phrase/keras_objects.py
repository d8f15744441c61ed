"""Registration of layers and models with Keras, so that `keras.models.load_model` finds them.

Keras knows a class once its module is imported. After `import t2t_phrase`, all these modules are
imported as soon as Keras is, unless a module of this library is the one that imports it, as in the
commands. Names such as `t2t_phrase.load`, and `t2t_phrase.layers`, therefore import Keras first.
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


def _library_is_being_imported() -> bool:
    """Return whether a module of the library is being imported, and so imports Keras itself."""
    return any(
        name.startswith(("t2t_phrase.", "hparams.")) and name != "t2t_phrase.layers"
        for name, module in list(sys.modules.items())
        if getattr(getattr(module, "__spec__", None), "_initializing", False)
    )


class _AfterKeras(importlib.abc.MetaPathFinder):
    """Finds Keras as Python does, and calls `_import_all` after its import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "keras":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None and not _library_is_being_imported():
            loader: Any = spec.loader
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _import_all()

            loader.exec_module = exec_module
        return spec
