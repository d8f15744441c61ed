"""The development scores of a run, kept in its folder."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from collections.abc import Mapping

from t2t_phrase import files

FILE = "evaluations.json"


@dataclasses.dataclass
class History:
    """The development scores of a run by step, stored in `evaluations.json` in its folder."""

    scores: dict[int, dict[str, float]] = dataclasses.field(default_factory=dict)

    def add(self, step: int, scores: Mapping[str, float]) -> None:
        """Add the scores of a step."""
        self.scores[step] = dict(scores)

    def of(self, metric: str) -> dict[int, float]:
        """Return the scores by one metric; evaluations without it are left out."""
        return {step: scores[metric] for step, scores in self.scores.items() if metric in scores}

    def best(self, metric: str, *, lower: bool) -> int | None:
        """Return the step with the best score, the earliest of equals; None: no step has one.

        Args:
            metric: name of a score.
            lower: whether lower is better.
        """
        scored, sign = self.of(metric), 1 if lower else -1
        return min(scored, key=lambda step: (sign * scored[step], step), default=None)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the file.

        Raises:
            WriteError: the disk is full, or the folder is not writable.
        """
        files.write(pathlib.Path(folder) / FILE, json.dumps(self.scores, indent=1) + "\n")

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, until: int) -> History:
        """Read the scores up to the step `until`; later ones belong to updates that were lost."""
        path = pathlib.Path(folder) / FILE
        if not path.exists():
            return cls()
        stored = json.loads(path.read_text())
        return cls({int(step): s for step, s in stored.items() if int(step) <= until})
