"""Makes vocabularies and record shards from a raw corpus, in steps that can be resumed."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
from importlib import metadata
from typing import Any

from t2t_phrase import __version__
from t2t_phrase.config import differences
from t2t_phrase.corpus_sizes import corpus_size
from t2t_phrase.data.generation.damage import damaged_files, miscounted_splits
from t2t_phrase.data.generation.given_vocabulary import given_vocabularies
from t2t_phrase.data.generation.labels import labels_intact, read_labels, write_labels
from t2t_phrase.data.generation.manifest import Manifest, manifest_path
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.progress import Log, Progress
from t2t_phrase.data.generation.records import ShardTask, shard_name
from t2t_phrase.data.generation.segmentations import (
    sample_splits,
    sampling_of,
    sampling_options,
)
from t2t_phrase.data.generation.split_stager import SplitStager
from t2t_phrase.data.generation.staged import StagedSplit, has_checksum
from t2t_phrase.data.generation.staging import feature_streams
from t2t_phrase.data.generation.summary import summary
from t2t_phrase.data.generation.vocabulary import (
    learn_vocabularies,
    take_vocabularies,
    vocabulary_options,
)
from t2t_phrase.data.generation.workers import write_shards
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import SPLITS, Corpus
from t2t_phrase.data.sources.inputs import Inputs
from t2t_phrase.features import Feature
from t2t_phrase.io import locks
from t2t_phrase.io.files import expanded, explain_os_error

# Above this many pairs the start of worker processes is worth its seconds.
_MANY_PAIRS = 20_000
# Damaged files that are named; others are only counted.
_LISTED = 5


def generate(
    problem: Problem,
    data_dir: str,
    tmp_dir: str,
    *,
    options: GenerateOptions = GenerateOptions(),  # noqa: B008 (immutable)
    log: Log = print,
) -> Manifest:
    """Write vocabularies, record shards and kept text; continue where an earlier run stopped.

    A run that was killed may be repeated with other raw files or options: files that do not fit
    them are made again. Once the data are complete, models may depend on them: damaged files are
    repaired, but other raw files or options are refused.

    Args:
        problem: what to generate; both directions of a problem share their data.
        data_dir: where the data go.
        tmp_dir: where the raw corpus is, or where it is downloaded to.
        options: what differs from the problem's defaults.
        log: takes one line of progress.

    Raises:
        UserError: the raw corpus is missing or faulty, the disk is full, or `data_dir` holds
            complete data of this problem made with other options or from other raw files.
    """
    folder = expanded(data_dir)
    busy = f"another process is writing {problem.base_name} to {folder}; wait until it has finished"
    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = folder / f".{problem.base_name}-lock"
            stack.enter_context(locks.exclusive(lock, busy=busy))
        except OSError as error:
            raise explain_os_error(error, folder) from error
        return _Generation(problem, folder, tmp_dir, options, log).run()


class _Generation:
    """One run of the generator on one folder."""

    def __init__(
        self,
        problem: Problem,
        folder: pathlib.Path,
        tmp_dir: str,
        options: GenerateOptions,
        log: Log,
    ) -> None:
        self._problem = problem
        self._folder = folder
        self._tmp_dir = tmp_dir
        self._options = options
        self._log = log
        self._base = problem.base_name
        self._work = folder / f".{self._base}-work"
        self._path = manifest_path(folder, self._base)
        self._manifest = Manifest.load(self._path) or self._new_manifest()

    def run(self) -> Manifest:
        """Do the remaining steps."""
        self._check_options()
        if self._manifest.complete and not self._left_to_do():
            self._clean()
            self._log(f"{self._base}: complete in {self._folder}, nothing to do")
            return self._manifest
        corpus = self._problem.corpus(self._tmp_dir)
        inputs = corpus.inputs()
        self._check_inputs(corpus, inputs)
        for line in corpus.notes():
            self._log(f"{self._base}: {line}")
        self._manifest.complete = False
        self._save()
        self._make_work_folder()
        stager = SplitStager(
            self._problem,
            corpus,
            inputs,
            self._manifest,
            folder=self._folder,
            work=self._work,
            log=self._log,
            workers=self._workers(),
        )
        for split in corpus.splits():
            made = [split, *(self._samples() if split == "train" else [])]
            kept = [self._check_shards(name, stager.features) for name in made]
            needed = not (all(kept) and self._has_vocabulary())
            needed = needed or not self._has_labels(stager.features)
            stager.stage(split, needed=needed)
            self._save()
        self._enter_samples()
        if not self._has_vocabulary():
            self._learn_vocabularies(stager)
        if not self._has_labels(stager.features):
            self._take_labels(stager)
        self._write_shards(stager)
        self._manifest.complete = self._manifest.released = True
        self._save()
        self._clean()
        self._summarize(stager.features)
        return self._manifest

    def _new_manifest(self) -> Manifest:
        versions = {name: metadata.version(name) for name in ("sentencepiece", "tensorflow")}
        versions["t2t_phrase"] = __version__
        return Manifest(problem=self._base, options=self._wanted_options(), versions=versions)

    def _wanted_options(self) -> dict[str, Any]:
        vocabulary = vocabulary_options(self._problem, self._options)
        return {
            "num_shards": self._options.num_shards or self._problem.num_shards,
            **vocabulary,
            **sampling_options(
                segmentations=self._options.sampled_segmentations,
                alpha=self._options.sampling_alpha,
                sides=self._options.sampling_sides,
                vocab_type=vocabulary["vocab_type"],
            ),
            "character_coverage": self._problem.character_coverage,
            "vocab_pairs": self._problem.vocab_pairs,
            "max_characters": self._options.max_characters or self._problem.max_characters,
            "max_cases": self._options.max_cases,
            "random_seed": self._options.random_seed,
        }

    def _save(self) -> None:
        self._manifest.save(self._path)

    def _make_work_folder(self) -> None:
        try:
            self._work.mkdir(exist_ok=True)
        except OSError as error:
            raise explain_os_error(error, self._work) from error

    def _check_options(self) -> None:
        wanted = self._wanted_options()
        if self._manifest.released:
            self._manifest.require_same(self._path, wanted)
        elif found := differences(self._manifest.options, wanted):
            self._start_anew(f"an unfinished run had other options ({'; '.join(found)})")

    def _check_inputs(self, corpus: Corpus, inputs: Inputs) -> None:
        """Compare the raw files with those of earlier runs, and record them."""
        welcome = self._welcome(inputs)
        if self._manifest.released:
            self._manifest.require_same_inputs(self._path, inputs, welcome=welcome)
        elif self._manifest.splits:
            found = self._manifest.input_changes(inputs)
            splits = [*corpus.splits(), *self._samples()]
            found += [f"gone: {s} set" for s in self._manifest.splits if s not in splits]
            if found:
                self._start_anew(f"the raw files changed since an unfinished run ({found[0]})")
        if inputs.checksums:
            self._manifest.inputs = dict(inputs.checksums)
            self._manifest.parts = dict(inputs.parts)

    def _samples(self) -> list[str]:
        """Return the names of the splits that hold random segmentations of the training set."""
        return sample_splits(self._manifest.options)

    def _enter_samples(self) -> None:
        train = self._manifest.splits["train"]
        for split in self._samples():
            entry = {**train, "faults": {}, "text": {}, "side": {}}
            earlier = self._manifest.splits.get(split, {})
            entry["shards"] = earlier.get("shards", [None] * len(train["shards"]))
            self._manifest.splits[split] = entry
        self._save()

    def _start_anew(self, reason: str) -> None:
        """Delete what an unfinished run has written."""
        self._log(f"{self._base}: {reason}: what it has written is made again")
        names = [name for name, _, _ in self._manifest.files()]
        for split, entry in self._manifest.splits.items():
            count = len(entry["shards"])
            names += [shard_name(self._base, split, i, count) for i in range(count)]
        for record in (StagedSplit.load(self._work, split) for split in SPLITS):
            names += [name for name, _ in record.kept()] if record else []
        try:
            for name in names:
                (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise explain_os_error(error, self._folder / name) from error
        self._manifest = self._new_manifest()
        self._save()

    def _left_to_do(self) -> bool:
        """Return whether complete data have to be repaired, or features to be added."""
        inputs = self._problem.inputs_at_hand(self._tmp_dir)
        welcome = self._welcome(inputs)
        self._manifest.require_same_inputs(self._path, inputs, welcome=welcome)
        damage = list(damaged_files(self._folder, self._manifest))
        for split in miscounted_splits(self._manifest):
            damage.append(f"the shards of {split} do not hold all pairs")
            self._drop_shards(split)
        for line in damage[:_LISTED]:
            self._log(f"{self._base}: repairing: {line}")
        if len(damage) > _LISTED:
            self._log(f"{self._base}: repairing {len(damage) - _LISTED} more files")
        new = self._new_features(inputs)
        if new:
            names = ", ".join(feature.name for feature in new)
            self._log(f"{self._base}: new side files found; adding {names} to the records")
        return bool(damage or new)

    def _new_features(self, inputs: Inputs) -> list[Feature]:
        """Return features that the records lack, though their files exist."""
        return [
            feature
            for feature in self._problem.features
            if feature.side_stream in inputs.side and not self._manifest.has_feature(feature.name)
        ]

    def _welcome(self, inputs: Inputs) -> set[str]:
        """Return names of the side files that finished data may be extended by."""
        return {n for f in self._new_features(inputs) for n in inputs.side[f.side_stream]}

    def _drop_shards(self, split: str) -> None:
        entry = self._manifest.splits[split]
        entry["shards"] = [None] * len(entry["shards"])

    def _check_shards(self, split: str, features: tuple[Feature, ...]) -> bool:
        """Drop shards that are damaged or hold other features; return whether all are kept."""
        entry = self._manifest.splits.get(split)
        if entry is None:
            return False
        shards = entry["shards"]
        entry["shards"] = [
            shard if shard and self._intact(shard) and self._fits(shard, features) else None
            for shard in shards
        ]
        if kept := sum(shard is not None for shard in entry["shards"]):
            self._log(f"{self._base} {split}: kept {kept} of {len(shards)} shards")
        return kept == len(shards)

    def _intact(self, entry: dict[str, Any]) -> bool:
        return has_checksum(self._folder / entry["file"], entry["sha256"])

    def _fits(self, shard: dict[str, Any], features: tuple[Feature, ...]) -> bool:
        """Return whether a shard holds the features that it should hold."""
        return all((f.name in shard) == (f in features) for f in self._problem.features)

    def _has_vocabulary(self) -> bool:
        entries = self._manifest.vocabulary
        return bool(entries) and all(map(self._intact, entries))

    def _has_labels(self, features: tuple[Feature, ...]) -> bool:
        return labels_intact(self._folder, self._manifest.labels, features)

    def _take_labels(self, stager: SplitStager) -> None:
        self._manifest.labels = write_labels(
            self._base, self._folder, stager.labels, stager.features, self._log
        )
        self._save()

    def _learn_vocabularies(self, stager: SplitStager) -> None:
        if given := given_vocabularies(self._options):
            found = take_vocabularies(self._problem, self._manifest, self._folder, given, self._log)
        else:
            found = learn_vocabularies(
                self._problem, self._manifest, self._folder, stager.dealt(), self._log
            )
        if self._manifest.vocabulary not in ([], found):
            # Another release of SentencePiece may learn others, which the old shards do not fit.
            self._log(f"{self._base}: the vocabulary is another one than before: all shards follow")
            for split in self._manifest.splits:
                self._drop_shards(split)
        self._manifest.vocabulary = found
        self._save()

    def _write_shards(self, stager: SplitStager) -> None:
        tasks = {}
        splits = self._manifest.splits
        files = [str(self._folder / entry["file"]) for entry in self._manifest.vocabulary]
        labels = read_labels(self._folder, self._manifest.labels)
        samples = self._samples()
        for split, entry in splits.items():
            text = "train" if split in samples else split
            for index, shard in enumerate(entry["shards"]):
                if shard is None:
                    source, target, *side = map(str, stager.text_of_shard(text, index))
                    name = shard_name(self._base, split, index, len(entry["shards"]))
                    seed = f"{self._options.random_seed}-{index}" if text == "train" else None
                    tasks[split, index] = ShardTask(
                        source=source,
                        target=target,
                        output=str(self._folder / name),
                        vocabularies=(files[0], files[-1]),
                        shuffle_seed=seed,
                        side=dict(zip(feature_streams(stager.features), side, strict=True)),
                        features=stager.features,
                        labels=labels,
                        sampling=sampling_of(self._manifest.options, split, index),
                    )
        kept = sum(s["records"] for entry in splits.values() for s in entry["shards"] if s)
        left = sum(entry["pairs"] for entry in splits.values()) - kept
        progress = Progress(f"{self._base}: encoded", self._log, total=left)
        few = not self._options.num_workers and left <= _MANY_PAIRS
        for key, entry in write_shards(tasks, num_workers=1 if few else self._workers()):
            split, index = key
            splits[split]["shards"][index] = entry
            self._save()
            progress.advance(entry["records"])
        self._log(progress.describe())

    def _workers(self) -> int:
        return self._options.num_workers or os.cpu_count() or 1

    def _clean(self) -> None:
        """Delete what is not needed once the data are complete."""
        shutil.rmtree(self._work, ignore_errors=True)
        for pattern in (f"{self._base}-*.tmp", f"vocab.{self._base}.*.tmp"):
            for path in self._folder.glob(pattern):
                path.unlink(missing_ok=True)

    def _summarize(self, features: tuple[Feature, ...]) -> None:
        self._log(f"{self._base}: written to {self._folder}")
        for line in summary(self._problem, self._manifest, features):
            self._log(f"  {line}")
        pairs = self._manifest.splits["train"]["pairs"]
        size = corpus_size(pairs)
        chosen = f"--hparams_set={self._problem.hparams_set}"
        if not self._problem.hparams_set:
            chosen = f"--hparams_set=transformer_{size.name} --train_steps={size.train_steps}"
            self._log(
                f"for {pairs:,} training pairs: sets that end in _{size.name}, for "
                f"{size.train_steps:,} updates, such as transformer_{size.name} and "
                f"phrase_interleaved_convkv_1_2_{size.name}"
            )
        self._log(
            f"next: t2t-phrase-trainer --problem={self._problem.name} --data_dir={self._folder} "
            f"{chosen} --output_dir=..."
        )
