"""Makes sure that the clean text of each split exists, reading the corpus where it does not."""

from __future__ import annotations

import itertools
import os
import pathlib
from collections.abc import Collection, Mapping, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.output_files import Outputs
from t2t_phrase.data.generation.portions import Portion
from t2t_phrase.data.generation.progress import Log, Progress
from t2t_phrase.data.generation.staged import (
    StagedSplit,
    content_digest,
    forget,
    has_checksum,
)
from t2t_phrase.data.generation.staging import feature_streams, require_pairs, stage
from t2t_phrase.data.generation.training_text import stage_training_text
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus
from t2t_phrase.data.sources.inputs import Inputs
from t2t_phrase.io.files import explain_os_error, sha256_of
from t2t_phrase.io.json_digest import json_digest

# Changes whenever work files left by earlier code can no longer be used.
_FORMAT = 3


class SplitStager:
    """Stages the splits of a corpus: writes their text, from which everything else is made.

    Training text is distributed over work files, one group for each shard. The text of dev and
    test, and side streams, go to the data folder.

    Args:
        problem: the problem of the corpus.
        corpus: the raw sentence pairs.
        inputs: the raw files that the corpus is made from.
        manifest: manifest of the data, into which splits are entered.
        folder: the data folder.
        work: folder for files that are not needed once the data are complete.
        log: takes one line of progress.
        workers: number of processes that read a large training set, or check side lines if there
            are many; 1: this process.

    Attributes:
        features: the features that the records will hold in addition to ids.
        labels: how often each label occurs in the training set, by feature, once it is staged.
    """

    def __init__(
        self,
        problem: Problem,
        corpus: Corpus,
        inputs: Inputs,
        manifest: Manifest,
        *,
        folder: pathlib.Path,
        work: pathlib.Path,
        log: Log,
        workers: int = 1,
    ) -> None:
        self._problem = problem
        self._corpus = corpus
        self._inputs = inputs
        self._manifest = manifest
        self._folder = folder
        self._work = work
        self._log = log
        self._workers = workers
        self._base = problem.base_name
        self._shards: int = manifest.options["num_shards"]
        self._streams = corpus.side_streams()
        self.features = tuple(f for f in problem.features if f.side_stream in self._streams)
        self.labels: dict[str, dict[str, int]] = {}

    def stage(self, split: str, *, needed: bool) -> None:
        """Make sure that the text of a split exists, and enter the split into the manifest.

        Args:
            split: name of the split.
            needed: whether shards or vocabularies are still to be made from it.

        Raises:
            UserError: the corpus is faulty, or not the one that finished data were made from.
        """
        if self._kept(split) and not (needed and split == "train"):
            return
        record = StagedSplit.load(self._work, split)
        if record is None or not self._usable(split, record):
            record = self._read(split)
        self._enter(split, record)
        if split == "train":
            self.labels = record.labels

    def stage_shards(self, own: Sequence[int], name: str) -> StagedSplit:
        """Make sure that the text of some training shards exists; nothing else is written.

        The record of the whole training set is used if there is one.

        Args:
            own: the numbers of the shards.
            name: name of their record.

        Returns:
            A record that describes the text of these shards at least.

        Raises:
            UserError: the corpus is faulty, or has side streams and was not staged as a whole.
        """
        names = [path.name for shard in own for path in self.dealt()[shard]]
        whole = StagedSplit.load(self._work, "train")
        if whole is not None and self._usable("train", whole, names):
            self.labels = whole.labels
            return whole
        if self._streams:
            raise UserError(
                f"{self._base}: a corpus with side files is read once for all tasks: give them a "
                "--data_dir in which the same command with --only_vocabulary has been run"
            )
        record = StagedSplit.load(self._work, name)
        if record is None or not self._usable("train", record, names):
            record = self._read_plain(own, name)
        return record

    def dealt(self) -> list[list[pathlib.Path]]:
        """Return the work files of each training shard: source, target and streams of features."""
        streams = feature_streams(self.features)
        names = (
            (*work_names(shard), *(f"train-{shard:05d}.{stream}" for stream in streams))
            for shard in range(self._shards)
        )
        return [[self._work / name for name in own] for own in names]

    def text_of_shard(self, split: str, index: int) -> list[pathlib.Path]:
        """Return the files with a shard's sources, targets and streams of features."""
        if split == "train":
            return self.dealt()[index]
        side = [f"{self._base}-{split}.{stream}" for stream in feature_streams(self.features)]
        return [self._folder / name for name in (*self._text_names(split, 2), *side)]

    def _kept(self, split: str) -> bool:
        """Return whether the kept files of a split exist, undamaged."""
        entry = self._manifest.splits.get(split)
        return (
            entry is not None
            and list(entry["side"]) == self._side_names(split)
            and all(
                has_checksum(self._folder / name, sha256)
                for name, sha256 in (*entry["text"].items(), *entry["side"].items())
            )
        )

    def _usable(
        self, split: str, record: StagedSplit, names: Collection[str] | None = None
    ) -> bool:
        # Without checksums, it is unknown whether the corpus is still the same.
        return (
            bool(self._inputs.checksums)
            and record.made_from == self._made_from(split)
            and record.intact(self._work, self._folder, names)
        )

    def _made_from(self, split: str) -> str:
        options = self._manifest.options
        train = split == "train"
        return json_digest(
            {
                "format": _FORMAT,
                "split": split,
                "checksums": dict(self._inputs.checksums),
                "parts": dict(self._inputs.parts),
                "languages": self._problem.languages,
                "streams": self._streams,
                "features": [feature.name for feature in self.features],
                "max_characters": options["max_characters"],
                "max_cases": options["max_cases"] if train else 0,
                "shards": self._shards if train else 1,
            }
        )

    def _read(self, split: str) -> StagedSplit:
        """Write the text of a split to the work folder, and then its record."""
        train = split == "train"
        if train and not self._streams:
            return self._read_plain(range(self._shards), split)
        forget(self._work, split)
        pairs = self._corpus.pairs(split)
        if train and self._manifest.options["max_cases"]:
            pairs = itertools.islice(pairs, self._manifest.options["max_cases"])
        first = next(pairs, None)
        if first is None:
            raise UserError(f"{self._base}: the {split} set is empty")
        side = self._side_names(split)
        text = self._text_names(split, len(first.texts)) if side or not train else []
        dealt = self.dealt() if train else []
        progress = Progress(f"{self._base} {split}: read", self._log)
        result = stage(
            itertools.chain([first], pairs),
            outputs=Outputs(dealt, [self._work / name for name in [*text, *side]]),
            drop_faulty=train,
            max_characters=self._manifest.options["max_characters"],
            progress=progress,
            streams=self._streams,
            features=self.features,
            workers=self._workers,
        )
        self._log(progress.describe())
        for message in result.messages:
            self._log(f"{self._base} {split}: {message}")
        sums = {p.name: sha256_of(p) for group in dealt for p in group}
        texts = {name: sha256_of(self._work / name) for name in text}
        record = StagedSplit(
            made_from=self._made_from(split),
            pairs=result.pairs,
            faults=result.faults,
            labels=result.labels,
            content=training_content(sums, self._shards) if train else content_digest(texts),
            work=sums,
            text=texts,
            side={name: sha256_of(self._work / name) for name in side},
        )
        record.save(self._work, split)
        return record

    def _read_plain(self, own: Sequence[int], name: str) -> StagedSplit:
        """Write the text of training shards to the work folder, and their record."""
        forget(self._work, name)
        options = self._manifest.options
        dealt = self.dealt()
        found = stage_training_text(
            Portion(
                corpus=self._corpus,
                files={shard: (dealt[shard][0], dealt[shard][1]) for shard in own},
                shards=self._shards,
                max_characters=options["max_characters"],
                max_cases=options["max_cases"],
            ),
            title=f"{self._base} train: read",
            log=self._log,
            workers=self._workers,
            text_bytes=self._corpus.text_bytes("train"),
        )
        for message in found.faults.describe("dropped"):
            self._log(f"{self._base} train: {message}")
        whole = name == "train"
        if whole:
            require_pairs(found.pairs, found.faults)
        record = StagedSplit(
            made_from=self._made_from("train"),
            pairs=found.pairs,
            faults=found.faults.by_kind(),
            labels={},
            content=training_content(found.sums, self._shards) if whole else "",
            work={path.name: found.sums[path.name] for shard in own for path in dealt[shard]},
            text={},
            side={},
        )
        record.save(self._work, name)
        return record

    def _enter(self, split: str, record: StagedSplit) -> None:
        earlier = self._manifest.splits.get(split, {})
        if earlier.get("content", record.content) != record.content:
            self._take_other_sentences(split)
        for name, sha256 in record.kept():
            if has_checksum(self._work / name, sha256):
                try:
                    os.replace(self._work / name, self._folder / name)
                except OSError as error:
                    raise explain_os_error(error, self._folder / name) from error
        shards = [None] * (self._shards if split == "train" else 1)
        self._manifest.splits[split] = {
            "pairs": record.pairs,
            "faults": record.faults,
            "content": record.content,
            "text": record.text,
            "side": record.side,
            "shards": earlier.get("shards", shards),
        }

    def _take_other_sentences(self, split: str) -> None:
        """Drop everything made from a split's earlier sentences; refuse if data were finished."""
        if self._manifest.released:
            raise UserError(
                f"the {split} set of {self._base} now has different sentences from those that the "
                f"data in {self._folder} were made from, or an earlier release distributed them "
                "differently; use another --data_dir, or delete "
                f"{self._manifest.in_the_way(self._manifest.options)} there to make the data again"
            )
        # Vocabularies are learned from the training set, and everything is encoded with them.
        dropped = list(self._manifest.splits) if split == "train" else [split]
        if split == "train":
            self._manifest.labels = {}
            if "given_vocabulary" not in self._manifest.options:
                # The names stay: these files are the run's own, and may be replaced.
                for entry in self._manifest.vocabulary:
                    entry["sha256"] = ""
        for name in dropped:
            entry = self._manifest.splits[name]
            entry["shards"] = [None] * len(entry["shards"])

    def _side_names(self, split: str) -> list[str]:
        return [f"{self._base}-{split}.{suffix}" for suffix in self._streams]

    def _text_names(self, split: str, texts: int) -> list[str]:
        source, target = (f"{self._base}-{split}.{name}" for name in self._problem.languages)
        return [source, target, *(f"{target}.{i}" for i in range(1, texts - 1))]


def work_names(shard: int) -> tuple[str, str]:
    """Return the names of the work files with a training shard's sources and targets."""
    return f"train-{shard:05d}.source", f"train-{shard:05d}.target"


def training_content(sums: Mapping[str, str], shards: int) -> str:
    """Return a digest of a training set.

    Args:
        sums: SHA-256 of the work files, by name.
        shards: number of shards.
    """
    names = [name for shard in range(shards) for name in work_names(shard)]
    return content_digest({name: sums[name] for name in names})
