"""Makes all data of a problem, in steps that can be resumed."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Sequence
from typing import Any

from t2t_phrase.config import UserError, differences
from t2t_phrase.data.generation.damage import damaged_files, miscounted_splits
from t2t_phrase.data.generation.disk_space import Need, data_space, require_space, used_bytes
from t2t_phrase.data.generation.encoding import ShardKey, processes, write_missing
from t2t_phrase.data.generation.given_vocabulary import given_vocabularies
from t2t_phrase.data.generation.labels import labels_intact, write_labels
from t2t_phrase.data.generation.manifest import Manifest, manifest_path
from t2t_phrase.data.generation.merging import merge, require_all_tasks
from t2t_phrase.data.generation.new_manifest import new_manifest, wanted_options
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.progress import Log
from t2t_phrase.data.generation.records import shard_name
from t2t_phrase.data.generation.segmentations import sample_splits
from t2t_phrase.data.generation.split_stager import SplitStager
from t2t_phrase.data.generation.staged import StagedSplit, has_checksum
from t2t_phrase.data.generation.summary import next_steps, summary
from t2t_phrase.data.generation.t2t_vocabulary import refuse_side_files
from t2t_phrase.data.generation.tasks import TaskRecord, load_records
from t2t_phrase.data.generation.vocabulary import (
    learn_vocabularies,
    new_entries,
    take_vocabularies,
)
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import SPLITS, Corpus
from t2t_phrase.data.sources.inputs import Inputs
from t2t_phrase.features import Feature
from t2t_phrase.io.files import expanded, explain_os_error

# Number of damaged files that are named; others are only counted.
_LISTED = 5


class WholeGeneration:
    """One run of the generator on one folder, to which no other process writes.

    Args:
        problem: what to generate.
        folder: the data folder.
        tmp_dir: where the raw corpus is, or where it is downloaded to.
        options: deviations from the problem's defaults.
        log: takes one line of progress.
    """

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

    def run(self, *, only_vocabulary: bool) -> Manifest:
        """Do the remaining steps, or those up to the vocabulary; return the manifest.

        Raises:
            UserError: see `generate`.
        """
        records = [] if self._manifest.released else load_records(self._folder, self._base)
        if records and not only_vocabulary:
            require_all_tasks(records, self._new_manifest(), self._folder)
        self._check_options(records)
        if self._manifest.complete and not self._left_to_do():
            self._clean()
            self._log(f"{self._base}: complete in {self._folder}, nothing to do")
            return self._manifest
        if only_vocabulary and self._manifest.released:
            raise UserError(
                f"--only_vocabulary is for data that are still to be made, but those of "
                f"{self._base} in {self._folder} have been complete; to repair or extend them, "
                "run the same command without it"
            )
        self._require_raw_space()
        corpus = self._problem.corpus(self._tmp_dir)
        inputs = corpus.inputs()
        if records and not only_vocabulary:
            merge(records, self._manifest, inputs)
            self._log(f"{self._base}: merging what {records[0].tasks} tasks have made")
        self._check_inputs(corpus, inputs)
        refuse_side_files(self._manifest.options, corpus.side_streams())
        for line in corpus.notes():
            self._log(f"{self._base}: {line}")
        self._manifest.complete = False
        self._save_while_reading()
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
        if not records:
            self._require_data_space(corpus.text_bytes("train"))
        for split in corpus.splits():
            made = [split, *(self._samples() if split == "train" else [])]
            kept = [self._check_shards(name, stager.features) for name in made]
            needed = not (all(kept) and self._has_vocabulary())
            needed = needed or not self._has_labels(stager.features)
            stager.stage(split, needed=needed)
            self._save_while_reading()
        self._enter_samples()
        if not self._has_vocabulary():
            self._learn_vocabularies(stager)
        if not self._has_labels(stager.features):
            self._take_labels(stager)
        if only_vocabulary:
            self._log(
                f"{self._base}: the vocabulary is in {self._folder}; next: the same command with "
                "--task_id=0 --num_tasks=N, --task_id=1 --num_tasks=N, ... instead of "
                "--only_vocabulary"
            )
            return self._manifest
        self._write_shards(stager)
        self._manifest.complete = self._manifest.released = True
        self._save()
        self._clean()
        self._summarize(stager.features)
        return self._manifest

    def _new_manifest(self) -> Manifest:
        return new_manifest(self._problem, self._options)

    def _require_raw_space(self) -> None:
        """Log and check the space for raw files that do not exist yet, and for the data."""
        raw = self._problem.raw_space(self._tmp_dir)
        if raw.download + raw.unpacked:
            what = "downloads and unpacked text"
            need = Need(expanded(self._tmp_dir), raw.download + raw.unpacked, what)
            self._require_data_space(raw.text, need)

    def _require_data_space(self, text_bytes: int, *others: Need) -> None:
        options = self._manifest.options
        space = data_space(text_bytes, options, workers=self._workers())
        present = used_bytes([*self._work.glob("*"), *self._folder.glob(f"{self._base}-train*")])
        need = Need(self._folder, space.most - present, space.purpose)
        require_space([*others, need], title=self._base, log=self._log)

    def _save(self) -> None:
        self._manifest.save(self._path)

    def _save_while_reading(self) -> None:
        """Save, unless the data are finished: they stay so if the files to add are faulty."""
        if not self._manifest.released:
            self._save()

    def _make_work_folder(self) -> None:
        try:
            self._work.mkdir(exist_ok=True)
        except OSError as error:
            raise explain_os_error(error, self._work) from error

    def _check_options(self, records: Sequence[TaskRecord]) -> None:
        wanted = wanted_options(self._problem, self._options)
        if records and (found := differences(records[0].options, wanted)):
            raise UserError(
                f"{records[0].of} in {self._folder} began with different options "
                f"({'; '.join(found)}); use those, or delete {self._base}-task-*.json there"
            )
        if self._manifest.released:
            self._manifest.require_same(self._path, wanted)
        elif found := differences(self._manifest.options, wanted):
            self._start_anew(f"an unfinished run had different options ({'; '.join(found)})")

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
                self._start_anew(f"the raw files have changed since an unfinished run ({found[0]})")
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
            # Removed first, so that these splits come after all others.
            earlier = self._manifest.splits.pop(split, {})
            entry["shards"] = earlier.get("shards", [None] * len(train["shards"]))
            self._manifest.splits[split] = entry
        self._save()

    def _start_anew(self, reason: str) -> None:
        """Delete everything that an unfinished run has written."""
        self._log(f"{self._base}: {reason}: its files will be regenerated")
        # A given vocabulary may be the user's own file in this folder.
        given = self._manifest.vocabulary if "given_vocabulary" in self._manifest.options else []
        kept = {entry["file"] for entry in given}
        now = {expanded(name).resolve() for name in self._options.vocab_file}
        files = [name for name, _, _ in self._manifest.files() if name not in kept]
        names = [name for name in files if (self._folder / name).resolve() not in now]
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
        """Return whether complete data have to be repaired, or extended by features."""
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
        """Return the names of the side files that finished data may be extended by."""
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
            made = take_vocabularies(self._problem, self._folder, given, self._log)
        else:
            made = learn_vocabularies(
                self._problem, self._manifest, self._folder, stager.dealt(), self._log
            )
        found = new_entries(made, self._manifest.vocabulary, given=bool(given))
        if self._manifest.vocabulary not in ([], found):
            # Another release of SentencePiece may learn other entries, which old shards do not fit.
            self._log(f"{self._base}: the vocabulary has changed: all shards will be rewritten")
            for split in self._manifest.splits:
                self._drop_shards(split)
        self._manifest.vocabulary = found
        # Before the files exist, so that a later run knows that they are this run's.
        self._save()
        for vocabulary in made:
            vocabulary.write()

    def _write_shards(self, stager: SplitStager) -> None:
        splits = self._manifest.splits

        def done(key: ShardKey, entry: dict[str, Any]) -> None:
            splits[key[0]]["shards"][key[1]] = entry
            self._save()

        kept = sum(s["records"] for entry in splits.values() for s in entry["shards"] if s)
        write_missing(
            [(n, i) for n, e in splits.items() for i, s in enumerate(e["shards"]) if s is None],
            self._manifest,
            stager,
            folder=self._folder,
            pairs=sum(entry["pairs"] for entry in splits.values()) - kept,
            num_workers=self._options.num_workers,
            log=self._log,
            done=done,
        )

    def _workers(self) -> int:
        return processes(self._options.num_workers)

    def _clean(self) -> None:
        """Delete everything that is not needed once the data are complete."""
        shutil.rmtree(self._work, ignore_errors=True)
        leftovers = (
            f"{self._base}-*.tmp",
            f"vocab.{self._base}.*.tmp",
            f"{self._base}-task-*.json",
        )
        for pattern in leftovers:
            for path in self._folder.glob(pattern):
                path.unlink(missing_ok=True)

    def _summarize(self, features: tuple[Feature, ...]) -> None:
        self._log(f"{self._base}: written to {self._folder}")
        for line in summary(self._problem, self._manifest, features):
            self._log(f"  {line}")
        for line in next_steps(self._problem, self._manifest, self._folder):
            self._log(line)
