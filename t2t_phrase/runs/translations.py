"""The translations of the development set that have the best score of a run, kept in its folder."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.io import files

FILE = "best_translations.json"


@dataclasses.dataclass(frozen=True)
class BestTranslations:
    """The translations of the development set at one step, stored in `best_translations.json`.

    Attributes:
        step: number of updates.
        bleu: their score, in per cent.
        signature: sacreBLEU's signature.
        lines: one translation for each sentence.
    """

    step: int
    bleu: float
    signature: str
    lines: tuple[str, ...]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the file.

        Raises:
            WriteError: the disk is full, or the folder is not writable.
        """
        content = json.dumps(dataclasses.asdict(self), indent=1)
        files.write(pathlib.Path(folder) / FILE, content + "\n")

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> BestTranslations | None:
        """Read the file; return None if it does not exist.

        Raises:
            UserError: the file cannot be read, or is damaged.
        """
        path = pathlib.Path(folder) / FILE
        try:
            return cls.parse(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from error
        except UserError as error:
            raise UserError(f"{path} is damaged: {error}; nothing needs it: delete it") from error

    @classmethod
    def parse(cls, content: bytes) -> BestTranslations:
        """Return the translations that are stored as JSON.

        Raises:
            UserError: the text is not the JSON of translations.
        """
        try:
            stored = json.loads(content)
        except (ValueError, RecursionError) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise UserError(f"it is not JSON ({reason})") from error
        kinds: dict[str, Any] = {"step": int, "bleu": (int, float), "signature": str, "lines": list}
        if not isinstance(stored, dict) or set(stored) != set(kinds):
            raise UserError(f"it is not a JSON object with {', '.join(kinds)}")
        for name, kind in kinds.items():
            if not isinstance(stored[name], kind) or isinstance(stored[name], bool):
                raise UserError(f"{name} has the wrong type")
        if not all(isinstance(line, str) for line in stored["lines"]):
            raise UserError("lines are not all strings")
        return cls(**{**stored, "lines": tuple(stored["lines"])})
