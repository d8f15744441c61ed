"""The development scores of a run, kept in its folder."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
from collections.abc import Container, Mapping

from t2t_phrase.config import UserError
from t2t_phrase.io import files

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

    def best(self, metric: str, *, lower: bool, among: Container[int] | None = None) -> int | None:
        """Return the step with the best finite score; None: there is none.

        Of equal ones, as when BLEU is still 0, it is that with the lowest loss, and then the first.

        Args:
            metric: name of a score.
            lower: whether lower is better.
            among: steps to choose from; None: all.
        """
        scored = {
            step: score
            for step, score in self.of(metric).items()
            if math.isfinite(score) and (among is None or step in among)
        }
        sign, losses = 1 if lower else -1, self.of("loss")

        def rank(step: int) -> tuple[float, float, int]:
            loss = losses.get(step, math.inf)
            return sign * scored[step], loss if math.isfinite(loss) else math.inf, step

        return min(scored, key=rank, default=None)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the file.

        Raises:
            WriteError: the disk is full, or the folder is not writable.
        """
        files.write(pathlib.Path(folder) / FILE, json.dumps(self.scores, indent=1) + "\n")

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, until: int) -> History:
        """Read the scores up to the step `until`; later ones belong to updates that were lost.

        Raises:
            UserError: the file cannot be read, or is damaged.
        """
        path = pathlib.Path(folder) / FILE
        try:
            stored = parse(path.read_bytes())
        except FileNotFoundError:
            return cls()
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from error
        except UserError as error:
            raise UserError(
                f"{path} is damaged: {error}; delete it to continue without the earlier scores, "
                "which decide what is best and when to stop early"
            ) from error
        return cls({step: scores for step, scores in stored.items() if step <= until})


def parse(content: bytes) -> dict[int, dict[str, float]]:
    """Return the scores by step that are stored as JSON.

    Raises:
        UserError: the text is not the JSON of a history.
    """
    try:
        stored = json.loads(content)
    except (ValueError, RecursionError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"it is not JSON ({reason})") from error
    if not isinstance(stored, dict):
        raise UserError("it is not a JSON object of steps")
    scores: dict[int, dict[str, float]] = {}
    for step, values in stored.items():
        if not (step.isascii() and step.isdecimal() and len(step) <= 18):
            raise UserError(f"{step[:40]!r} is not a step")
        if not isinstance(values, dict) or not all(map(_is_score, values.values())):
            raise UserError(f"the scores of step {step} are not an object of numbers")
        scores[int(step)] = {name: float(value) for name, value in values.items()}
    return scores


def _is_score(value: object) -> bool:
    # A loss may be infinite, but an integer of hundreds of digits cannot be a loss.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return isinstance(value, float) or abs(value) < 2**53
