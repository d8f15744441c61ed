"""Phrase-aware neural machine translation, following the conventions of tensor2tensor.

```python
import t2t_phrase

t2t_phrase.load("runs/ende").translate(["A house ."])
```

Public names are imported when they are first used, so that `import t2t_phrase` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from t2t_phrase.keras_objects import register_with_keras

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from t2t_phrase import layers as layers
    from t2t_phrase.api.loading import TrainedTranslator as TrainedTranslator
    from t2t_phrase.api.loading import load as load
    from t2t_phrase.api.training import generate_data as generate_data
    from t2t_phrase.api.training import train as train
    from t2t_phrase.data.problem import Problem as Problem
    from t2t_phrase.decoding.hparams import DecodeHParams as DecodeHParams
    from t2t_phrase.decoding.translator import Translator as Translator
    from t2t_phrase.export.exported_translator import ExportedTranslator as ExportedTranslator
    from t2t_phrase.training.loop_options import LoopOptions as LoopOptions

# The module of each public name.
_PUBLIC = {
    "DecodeHParams": "t2t_phrase.decoding.hparams",
    "ExportedTranslator": "t2t_phrase.export.exported_translator",
    "LoopOptions": "t2t_phrase.training.loop_options",
    "Problem": "t2t_phrase.data.problem",
    "TrainedTranslator": "t2t_phrase.api.loading",
    "Translator": "t2t_phrase.decoding.translator",
    "generate_data": "t2t_phrase.api.training",
    "load": "t2t_phrase.api.loading",
    "train": "t2t_phrase.api.training",
}
_MODULES = ("layers", "registry")


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        # First, so that a file of any model can be loaded later, see `keras_objects`.
        importlib.import_module("keras")
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"t2t_phrase.{name}")
    raise AttributeError(f"module 't2t_phrase' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_MODULES})


register_with_keras()
