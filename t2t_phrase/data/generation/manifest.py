"""The JSON manifest of generated data: what was made, from what, with which options."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from t2t_phrase.config import UserError, differences
from t2t_phrase.data.generation.segmentations import sample_split
from t2t_phrase.data.generation.shapes import Nullable, Object, parse, require
from t2t_phrase.data.sources.inputs import Inputs, changes
from t2t_phrase.io.files import write
from t2t_phrase.io.json_digest import json_digest

FORMAT = 1
SUFFIX = "-manifest.json"
# The splits that affect training.
TRAINED_ON = ("train", "dev")

CHECKSUMS = Object(others=str)
SHARD = Object(
    {
        "file": str,
        "sha256": str,
        "bytes": int,
        "records": int,
        "source_tokens": int,
        "target_tokens": int,
        "digests": CHECKSUMS,
    },
    others=int,
)
VOCABULARY = Object({"file": str, "sha256": str, "size": int})
_SPLIT = Object(
    {
        "pairs": int,
        "faults": Object(others=int),
        "content": str,
        "text": CHECKSUMS,
        "side": CHECKSUMS,
        "shards": [Nullable(SHARD)],
    },
)
_SHAPE = Object(
    {
        "format": int,
        "problem": str,
        "options": Object(others=object),
        "inputs": CHECKSUMS,
        "versions": CHECKSUMS,
        "vocabulary": [VOCABULARY],
        "splits": Object(others=_SPLIT),
        "complete": bool,
        "parts": Object(others=[[str]]),
        "released": bool,
        "labels": Object(others=VOCABULARY),
    },
)


def manifest_path(folder: pathlib.Path, base_name: str) -> pathlib.Path:
    """Return the path of a problem's manifest."""
    return folder / f"{base_name}{SUFFIX}"


@dataclasses.dataclass
class Manifest:
    """State of a data folder for one problem; saved after every finished file.

    Attributes:
        problem: name of the problem, without `_rev`.
        options: everything that determines the bytes of the data.
        inputs: SHA-256 of the raw files by name.
        parts: for each split, the names of the files of its parts; empty if unknown.
        versions: versions of the packages involved, by name.
        vocabulary: once it exists, `file`, `sha256` and `size` of the joint vocabulary, or of the
            source's and the target's.
        labels: the same for the labels of each feature with labels, by the name of the feature.
        splits: for each staged split, `pairs`, `faults`, `content` (a digest of its
            sentences), `text` and `side` (SHA-256 of kept files by name), and `shards`, a list with
            an entry or null for each shard: `file`, `sha256`, `bytes`, `records`, `source_tokens`,
            `target_tokens`, `digests` (SHA-256 of the ids and of each feature, by name), and for
            each feature that the records hold, by its name, the number of different values in a
            sentence, summed over the sentences.
        complete: whether everything is done.
        released: whether the data have ever been complete, so that models may depend on them.
    """

    problem: str
    options: dict[str, Any]
    inputs: dict[str, str] = dataclasses.field(default_factory=dict)
    parts: dict[str, list[list[str]]] = dataclasses.field(default_factory=dict)
    versions: dict[str, str] = dataclasses.field(default_factory=dict)
    vocabulary: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    labels: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    splits: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    complete: bool = False
    released: bool = False

    def has_feature(self, name: str) -> bool:
        """Return whether all records hold a feature."""
        shards = [shard for split in self.splits.values() for shard in split["shards"]]
        return bool(shards) and all(shard and name in shard for shard in shards)

    def files(self) -> Iterator[tuple[str, str, int | None]]:
        """Yield the name, SHA-256 and size of all finished files; None: size unknown."""
        for entry in (*self.vocabulary, *self.labels.values()):
            yield entry["file"], entry["sha256"], None
        for split in self.splits.values():
            for shard in filter(None, split["shards"]):
                yield shard["file"], shard["sha256"], shard["bytes"]
            for name, sha256 in (*split["text"].items(), *split["side"].items()):
                yield name, sha256, None

    def in_the_way(self, options: Mapping[str, Any]) -> str:
        """Return the names of the files that must be deleted to make other data, for messages.

        Without its manifest, a learned vocabulary would count as the user's own. A vocabulary that
        was given, or may be the one that is given now, is never named.

        Args:
            options: the options of the other data.
        """
        given = "given_vocabulary" in {**self.options, **options}
        learned = [] if given else [entry["file"] for entry in self.vocabulary]
        return " and ".join([f"{self.problem}{SUFFIX}", *learned])

    def digest(self, features: Sequence[str], segmentations: int = 0) -> str:
        """Return a digest of the data that a model is trained on, and of their order.

        It does not depend on features that the model does not read, so that trees can be added.

        Args:
            features: names of the features that the model reads.
            segmentations: number of random segmentations of the training set that it reads.

        Returns:
            A SHA-256 in hexadecimal; "" until all records are finished and hold these features.
        """
        found = []
        for split in (*TRAINED_ON, *map(sample_split, range(segmentations))):
            shards = self.splits.get(split, {"shards": []})["shards"]
            found.append([(shard or {}).get("digests", {}) for shard in shards])
        names = ("ids", *features)
        if not all(name in digests for split in found for digests in split for name in names):
            return ""
        return json_digest([[[digests[n] for n in names] for digests in split] for split in found])

    def save(self, path: pathlib.Path) -> None:
        """Write the manifest atomically."""
        content = {"format": FORMAT, **dataclasses.asdict(self)}
        write(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: pathlib.Path) -> Manifest | None:
        """Read a manifest; return None if there is no such file.

        Raises:
            UserError: the file cannot be read, or is not a manifest of this version.
        """
        try:
            content = _parse(path.read_bytes())
            manifest = cls(**content)
            for fault in manifest._faults(path):
                raise ValueError(fault)
            return manifest
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror or error}") from error
        except ValueError as error:
            raise UserError(
                f"{path} is not a manifest that this version can read ({error}); delete it and "
                "run t2t-phrase-datagen again"
            ) from error

    def require_same(self, path: pathlib.Path, options: dict[str, Any]) -> None:
        """Check that the data were made with these options.

        Raises:
            UserError: the options differ; the message names the differences.
        """
        found = differences(self.options, options)
        if found:
            raise UserError(
                f"{path.parent} holds {self.problem} made with different options "
                f"({'; '.join(found)}); use another --data_dir, or delete "
                f"{self.in_the_way(options)} there"
            )

    def input_changes(self, inputs: Inputs, *, welcome: Collection[str] = ()) -> list[str]:
        """Return the differences between raw files and those of the data, see `changes`."""
        return changes(Inputs(self.inputs, self.parts), inputs, welcome=welcome)

    def require_same_inputs(
        self, path: pathlib.Path, inputs: Inputs, *, welcome: Collection[str] = ()
    ) -> None:
        """Check that the available raw files are those that the data were made from.

        Raises:
            UserError: the raw files differ; the message names the differences.
        """
        found = self.input_changes(inputs, welcome=welcome)
        if found:
            raise UserError(
                f"the raw files are not those that {self.problem} in {path.parent} was made from "
                f"({'; '.join(found)}); use another --data_dir, or delete "
                f"{self.in_the_way(self.options)} there to make the data again"
            )

    def _faults(self, path: pathlib.Path) -> Iterator[str]:
        if f"{self.problem}{SUFFIX}" != path.name:
            yield "the problem's name differs from the file's"
        starts = (f"{self.problem}-", f"vocab.{self.problem}.")
        for name, _, _ in self.files():
            # For example, a path that leads out of the folder.
            if not name.startswith(starts) or "/" in name or not name.isprintable():
                yield f"{name!r} is not a file of the problem"
        if len(self.vocabulary) > 2:
            yield "vocabulary has more than two entries"
        for name, split in self.splits.items():
            if not split["shards"] or (self.complete and None in split["shards"]):
                yield f"splits.{name} has no shards, or not all"
        if self.complete and not (self.vocabulary and self.splits):
            yield "vocabulary or splits are missing"


def _parse(text: bytes) -> dict[str, Any]:
    """Return the content of a manifest."""
    content = parse(text)
    require(content, _SHAPE)
    if content.pop("format") != FORMAT:
        raise ValueError("unknown format version")
    return dict(content)
