"""`hparams.json`: the settings of a run, so that resuming, decoding and exporting need no flags."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
from typing import Any

import t2t_phrase
from t2t_phrase import registry
from t2t_phrase.config import UserError, differences, parse_assignments
from t2t_phrase.files import write
from t2t_phrase.training_hparams import TrainingHParams

FILE = "hparams.json"


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The settings that determine the result of a run, and a digest of its data.

    Attributes:
        problem, model, hparams_set: registered names.
        overrides: the `--hparams` that were given, in T2T's syntax.
        hparams: all resolved values.
        vocab_size: entries of the source vocabulary, filled up to what the embedding has.
        vocabulary: SHA-256 of the source vocabulary, in hexadecimal.
        random_seed: seed of weights, data order and dropout.
        replicas: number of devices that share a batch.
        train_steps: number of updates if the learning rate depends on it, else 0.
        target_vocab_size, target_vocabulary: likewise of the target; None and "" where source and
            target share one vocabulary.
        data: digest of the training and development data, see `Problem.data_digest`; "": unknown.
        version: of this library.
    """

    problem: str
    model: str
    hparams_set: str
    overrides: str
    hparams: dict[str, Any]
    vocab_size: int
    vocabulary: str
    random_seed: int
    replicas: int = 1
    train_steps: int = 0
    target_vocab_size: int | None = None
    target_vocabulary: str = ""
    data: str = ""
    version: str = t2t_phrase.__version__

    def resolved(self) -> TrainingHParams:
        """Return the hyperparameters as an object of the model's class.

        The name of the set is not needed: it may be another one today.

        Raises:
            UserError: the model is unknown, or its hyperparameters no longer have a recorded name.
        """
        if self.model not in registry.models:
            registry.discover()
        return registry.models[self.model].hparams_class.from_dict(self.hparams)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `hparams.json`.

        Raises:
            WriteError: the disk is full, or the folder is not writable.
        """
        content = json.dumps(dataclasses.asdict(self), indent=2) + "\n"
        write(pathlib.Path(folder) / FILE, content)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> RunRecord:
        """Read `hparams.json` of a run's folder.

        Raises:
            UserError: it is missing or damaged.
        """
        path = pathlib.Path(folder) / FILE
        try:
            return cls(**json.loads(path.read_text()))
        except FileNotFoundError:
            raise UserError(
                f"{path} does not exist: {folder} is not the --output_dir of a training run"
            ) from None
        except (ValueError, TypeError) as error:
            raise UserError(f"{path} is damaged: {error}") from error

    def check_same(self, earlier: RunRecord, folder: str | os.PathLike[str]) -> None:
        """Refuse to resume a run that was started with other settings or on other data.

        Raises:
            UserError: settings differ; the message lists them as "name: old -> new". Or the data
                differ.
        """
        # A value that an earlier version did not record is the default.
        complete = dataclasses.replace(earlier, hparams=earlier.resolved().to_dict())
        changed = differences(complete._identity(), self._identity())
        if changed:
            raise UserError(
                f"--output_dir={folder} holds a run with other settings:\n  "
                + "\n  ".join(changed)
                + "\nGive the old settings to resume it, or a new --output_dir to start afresh "
                "(--warm_start_from takes over weights)."
            )
        if self.data != earlier.data and self.data and earlier.data:
            raise UserError(
                f"--output_dir={folder} holds a run on other data: those of {self.problem} have "
                "been made anew since it began, from other text or with other options of "
                "t2t-phrase-datagen; give the --data_dir that it began with, or a new --output_dir "
                "to start afresh"
            )

    def _identity(self) -> dict[str, Any]:
        named = {k: v for k, v in dataclasses.asdict(self).items() if k not in ("data", "version")}
        # The resolved values say what the set and the overrides did, whatever they are called.
        del named["hparams_set"], named["overrides"]
        return {**named.pop("hparams"), **named}


def resolve_hparams(hparams_set: str, overrides: str) -> tuple[TrainingHParams, list[str]]:
    """Return a registered set with `--hparams` applied, and "name: old -> new" for each change.

    Raises:
        UserError: an unknown set, or wrong overrides, all of them at once.
    """
    base = registry.hparams[hparams_set]()
    changed = base.override(overrides)
    told = differences(base.to_dict(), changed.to_dict())
    same = set(parse_assignments(overrides)) - {line.partition(":")[0] for line in told}
    return changed, told + [f"{name}: as in {hparams_set} already" for name in sorted(same)]
