"""The JSON manifest of generated data: what was made, from what, with which options."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

from t2t_phrase.config import UserError, differences
from t2t_phrase.files import sha256_of, write

FORMAT = 1
JOINT_SUBWORDS = {"vocab_type": "subwords", "shared_vocab": True, "target_vocab_size": 0}


def manifest_path(folder: pathlib.Path, base_name: str) -> pathlib.Path:
    """Return where the manifest of a problem lies."""
    return folder / f"{base_name}-manifest.json"


@dataclasses.dataclass
class Manifest:
    """State of a data folder for one problem; saved after every finished file.

    Attributes:
        problem: name of the problem, without `_rev`.
        options: everything that decides the bytes of the data.
        inputs: SHA-256 of the raw files by name.
        versions: packages that took part.
        vocabulary: once it exists `file`, `sha256` and `size` of the joint vocabulary, or of the
            source's and the target's.
        splits: for each split that is staged `pairs`, `faults`, `text`, `side`, and `shards`, a
            list with an entry or null for each shard: `file`, `sha256`, `records`, `source_tokens`,
            `target_tokens`, and for each feature that the records hold, by its name, the number of
            different values in a sentence, summed over the sentences.
        complete: whether all is done.
    """

    problem: str
    options: dict[str, Any]
    inputs: dict[str, str] = dataclasses.field(default_factory=dict)
    versions: dict[str, str] = dataclasses.field(default_factory=dict)
    vocabulary: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    splits: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    complete: bool = False

    def has_feature(self, name: str) -> bool:
        """Return whether all records hold a feature."""
        shards = [shard for split in self.splits.values() for shard in split["shards"]]
        return bool(shards) and all(shard and name in shard for shard in shards)

    def save(self, path: pathlib.Path) -> None:
        """Write the manifest atomically."""
        content = {"format": FORMAT, **dataclasses.asdict(self)}
        write(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: pathlib.Path) -> Manifest | None:
        """Read a manifest; None if there is no such file.

        Raises:
            UserError: the file is not a manifest of this version.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content.pop("format") != FORMAT:
                raise ValueError("another format")
            # Earlier versions had joint subwords only.
            for name, value in JOINT_SUBWORDS.items():
                content["options"].setdefault(name, value)
            if isinstance(content["vocabulary"], dict):
                content["vocabulary"] = [content["vocabulary"]] if content["vocabulary"] else []
            return cls(**content)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UserError(
                f"{path} is not a manifest that this version can read ({error}); delete it and "
                "run t2t-phrase-datagen again"
            ) from error

    def require_same(self, path: pathlib.Path, options: dict[str, Any]) -> None:
        """Check that the data were made with these options.

        Raises:
            UserError: they were made with others; the message names the differences.
        """
        found = differences(self.options, options)
        if found:
            raise UserError(
                f"{path.parent} holds {self.problem} made with other options "
                f"({'; '.join(found)}); use another --data_dir, or delete {path.name} there"
            )

    def require_same_inputs(self, path: pathlib.Path, inputs: dict[str, str]) -> None:
        """Check that the available raw files are those that the data were made from.

        Raises:
            UserError: some have changed; the message names them.
        """
        changed = [name for name in inputs if self.inputs.get(name, inputs[name]) != inputs[name]]
        if changed:
            raise UserError(
                f"{', '.join(changed)} changed since {self.problem} was written to {path.parent}; "
                f"use another --data_dir, or delete {path.name} there"
            )


def intact(folder: pathlib.Path, entry: dict[str, Any] | None) -> bool:
    """Return whether the file of a manifest's entry exists with the checksum noted there."""
    if not entry:
        return False
    path = folder / entry["file"]
    return path.is_file() and sha256_of(path) == entry["sha256"]
