"""`hparams.json`: the settings of a run, so that resuming, decoding and exporting need no flags."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import reprlib
import types
import typing
from typing import Any

import t2t_phrase
from t2t_phrase import registry
from t2t_phrase.config import HParamsError, UserError, differences, parse_assignments
from t2t_phrase.io.files import write
from t2t_phrase.io.json_digest import json_digest
from t2t_phrase.training_hparams import TrainingHParams, registered_hparams

FILE = "hparams.json"
# Entries that may differ when a run is resumed; the data are compared separately.
_NO_SETTINGS = ("data", "t2t_usr_dir", "version")
_VOCABULARIES = ("vocabulary", "target_vocabulary")
_CHECKSUM = "checksum"
# A damaged number above these would fill the memory before the damage is noticed.
_LARGEST = {"vocab_size": 2**24, "target_vocab_size": 2**24}
_LARGEST_OF_OTHERS = 2**63


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The settings that determine the result of a run, and a digest of its data.

    Attributes:
        problem, model, hparams_set: registered names.
        overrides: the `--hparams` that were given, in T2T's syntax.
        hparams: all resolved values.
        vocab_size: entries of the source vocabulary, padded to the rows of the embedding.
        vocabulary: SHA-256 of the source vocabulary, in hexadecimal.
        random_seed: seed of weights, data order and dropout.
        replicas: number of equal parts that a batch is computed in: the number of devices, or more
            if each adds up gradients (`effective_batch_size`), so that the number of devices may
            change.
        train_steps: number of updates if the learning rate depends on it, else 0.
        target_vocab_size, target_vocabulary: the same for the target; None and "" if source and
            target share one vocabulary.
        data: digest of the training and development data, see `Problem.data_digest`; "": unknown.
        t2t_usr_dir: folder of the user's registrations; "": none.
        version: version of this library.
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
    t2t_usr_dir: str = ""
    version: str = t2t_phrase.__version__

    def resolved(self) -> TrainingHParams:
        """Return the hyperparameters as an object of the model's class.

        The name of the set is not needed, since the set may have changed.

        Raises:
            UserError: the model is unknown, a recorded hyperparameter no longer exists, or one
                names what only another --t2t_usr_dir registers.
        """
        if self.model not in registry.models:
            registry.discover()
        folder = self.t2t_usr_dir
        if self.model not in registry.models and folder:
            raise UserError(
                f"model {self.model} is unknown; the run was trained with --t2t_usr_dir="
                f"{folder}, which registers it: give that flag"
            )
        try:
            return registry.models[self.model].hparams_class.from_dict(self.hparams)
        except HParamsError as error:
            if not folder or folder in registry.user_folders():
                raise
            raise HParamsError(
                f"{error}; the run was trained with --t2t_usr_dir={folder}: give that flag"
            ) from error

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `hparams.json`, with a checksum of the rest.

        Raises:
            WriteError: the disk is full, or the folder is not writable.
        """
        content = dataclasses.asdict(self)
        content[_CHECKSUM] = json_digest(content)
        write(pathlib.Path(folder) / FILE, json.dumps(content, indent=2) + "\n")

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> RunRecord:
        """Read `hparams.json` of a run's folder.

        Raises:
            UserError: the file is missing or damaged.
        """
        path = pathlib.Path(folder) / FILE
        try:
            return cls.parse(path.read_bytes())
        except FileNotFoundError:
            raise UserError(
                f"{path} does not exist: {folder} is not the --output_dir of a training run"
            ) from None
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from error
        except UserError as error:
            raise UserError(
                f"{path} is damaged: {error}; restore it from a copy, such as that in best/"
            ) from error

    @classmethod
    def parse(cls, content: bytes) -> RunRecord:
        """Return the record that is stored as JSON; one without a checksum is of an old version.

        Raises:
            UserError: the text is not the JSON of a record, or was changed.
        """
        try:
            values = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise UserError(f"it is not JSON ({_first_line(error)})") from error
        if not isinstance(values, dict):
            raise UserError("it is not a JSON object")
        checksum = values.pop(_CHECKSUM, None)
        faults = list(_faults(cls, values))
        if faults:
            raise UserError("; ".join(faults[:5]))
        if checksum not in (None, json_digest(values)):
            raise UserError(
                f"its checksum differs (delete the entry {_CHECKSUM!r} if you edited it)"
            )
        return cls(**values)

    def check_same(self, earlier: RunRecord, folder: str | os.PathLike[str]) -> None:
        """Refuse to resume a run that was started with other settings or on other data.

        Raises:
            UserError: settings differ, and the message lists them as "name: old -> new"; or the
                data differ.
        """
        # Fields added to the model's hyperparameters since then take their defaults.
        try:
            complete = dataclasses.replace(earlier, hparams=earlier.resolved().to_dict())
        except UserError as error:
            raise UserError(f"{pathlib.Path(folder) / FILE}: {error}") from error
        changed = complete.differences(self)
        if changed:
            hint = ""
            if complete.train_steps != self.train_steps and self.train_steps:
                hint = (
                    "\nThe learning rate falls to 0 at --train_steps, so another value would "
                    "change the rate of every step. To train for another number of steps, start a "
                    f"new --output_dir from these weights: --warm_start_from={folder}."
                )
            if any(line.partition(":")[0] in _VOCABULARIES for line in changed):
                hint += (
                    "\nThe data have another vocabulary: give the --data_dir that the run began "
                    "with."
                )
            if complete.replicas != self.replicas:
                hint += (
                    f"\nIts batches have {complete.replicas} equal parts ('replicas'), so it can "
                    f"be resumed on {complete.replicas} devices or a number that divides this: "
                    "give --worker_gpu, or fewer hosts."
                )
            raise UserError(
                f"--output_dir={folder} holds a run with different settings:\n  "
                + "\n  ".join(changed)
                + "\nGive the old settings to resume it, or a new --output_dir to start over "
                "(--warm_start_from carries over the weights)." + hint
            )
        if self.data != earlier.data and self.data and earlier.data:
            raise UserError(
                f"--output_dir={folder} holds a run on different data: the data of {self.problem} "
                "have been regenerated since it began, from different text or with different "
                "options of t2t-phrase-datagen; give the --data_dir that it began with, or a new "
                "--output_dir to start over"
            )

    def differences(self, other: RunRecord) -> list[str]:
        """Return "name: value -> other value" for all settings that are not the same."""
        return differences(self.settings(), other.settings())

    def settings(self) -> dict[str, Any]:
        """Return the settings that may not change on resume, by name, without the data."""
        named = {k: v for k, v in dataclasses.asdict(self).items() if k not in _NO_SETTINGS}
        # The resolved values include the set and the overrides, whatever these are called.
        del named["hparams_set"], named["overrides"]
        return {**named.pop("hparams"), **named}


def resolve_hparams(hparams_set: str, overrides: str) -> tuple[TrainingHParams, list[str]]:
    """Return a registered set with `--hparams` applied, and "name: old -> new" for each change.

    Raises:
        UserError: the set is unknown or no set, or overrides are wrong; the message names all of
            them.
    """
    base = registered_hparams(hparams_set)
    changed = base.override(overrides)
    told = differences(base.to_dict(), changed.to_dict())
    same = set(parse_assignments(overrides)) - {line.partition(":")[0] for line in told}
    return changed, told + [f"{name}: already as in {hparams_set}" for name in sorted(same)]


def _faults(cls: type[RunRecord], values: dict[str, Any]) -> typing.Iterator[str]:
    """Yield one sentence for each entry that no record can have."""
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        if field.name not in values:
            if field.default is dataclasses.MISSING and field.default_factory is (
                dataclasses.MISSING
            ):
                yield f"it lacks {field.name}"
            continue
        value = values[field.name]
        if not _is_a(value, hints[field.name]):
            yield f"{field.name} cannot be {reprlib.repr(value)}"
        elif isinstance(value, int) and not 0 <= value <= _LARGEST.get(
            field.name, _LARGEST_OF_OTHERS
        ):
            yield f"{field.name} cannot be {value}"
        elif field.name in ("replicas", *_LARGEST) and value == 0:
            yield f"{field.name} cannot be 0"
    unknown = sorted(set(values) - set(hints))
    if unknown:
        yield f"it has unknown entries: {', '.join(map(reprlib.repr, unknown))}"


def _is_a(value: Any, expected: Any) -> bool:
    if isinstance(expected, types.UnionType):
        return any(_is_a(value, option) for option in typing.get_args(expected))
    kind = typing.get_origin(expected) or expected
    if isinstance(value, bool) and kind is not bool:
        return False
    return bool(isinstance(value, kind))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
