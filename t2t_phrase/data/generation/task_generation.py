"""Makes the training shards of one task from an existing vocabulary."""

from __future__ import annotations

import contextlib
import pathlib
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.disk_space import Need, data_space, require_space, used_bytes
from t2t_phrase.data.generation.encoding import ShardKey, processes, write_missing
from t2t_phrase.data.generation.given_vocabulary import given_vocabularies
from t2t_phrase.data.generation.manifest import Manifest, manifest_path
from t2t_phrase.data.generation.new_manifest import new_manifest
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.progress import Log
from t2t_phrase.data.generation.segmentations import sample_splits
from t2t_phrase.data.generation.split_stager import SplitStager
from t2t_phrase.data.generation.staged import forget, has_checksum
from t2t_phrase.data.generation.tasks import Task, TaskRecord, load_records
from t2t_phrase.data.generation.vocabulary import new_entries, take_vocabularies
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus
from t2t_phrase.data.sources.inputs import Inputs
from t2t_phrase.io import locks
from t2t_phrase.io.files import explain_os_error


class TaskGeneration:
    """One run of a task on one folder, which other tasks may share.

    Args:
        problem: what to generate.
        folder: the data folder.
        tmp_dir: where the raw corpus is.
        options: deviations from the problem's defaults.
        task: the task to run.
        log: takes one line of progress.
    """

    def __init__(
        self,
        problem: Problem,
        folder: pathlib.Path,
        tmp_dir: str,
        options: GenerateOptions,
        task: Task,
        log: Log,
    ) -> None:
        self._problem = problem
        self._folder = folder
        self._tmp_dir = tmp_dir
        self._options = options
        self._task = task
        self._log = log
        self._base = problem.base_name
        self._title = f"{self._base} {task}"
        self._work = folder / f".{self._base}-work"
        self._text = f"train.task-{task.index:05d}-of-{task.count:05d}"
        self._path = manifest_path(folder, self._base)

    def run(self) -> None:
        """Make the shards that are missing or damaged.

        Raises:
            UserError: the vocabulary is missing; the options, raw files or vocabulary differ from
                those of other tasks or of the data; the corpus is faulty; or the disk is full.
        """
        fresh = new_manifest(self._problem, self._options)
        manifest = Manifest.load(self._path) or fresh
        manifest.require_same(self._path, fresh.options)
        own = list(self._task.shards(manifest.options["num_shards"]))
        if manifest.complete:
            self._log(f"{self._title}: the data in {self._folder} are complete, nothing to do")
            return
        if manifest.released:
            raise UserError(
                f"{self._title}: the data in {self._folder} have been complete, and their repair "
                "or extension has not finished; run the same command without --task_id and "
                "--num_tasks"
            )
        corpus = self._problem.corpus(self._tmp_dir)
        inputs = corpus.inputs()
        if manifest.inputs:
            manifest.require_same_inputs(self._path, inputs)
        self._take_vocabulary(manifest)
        record = self._record(manifest, inputs)
        keys = [(s, i) for s in ("train", *sample_splits(manifest.options)) for i in own]
        kept = {(split, number): entry for split, number, entry in record.entries()}
        missing = [key for key in keys if key not in kept]
        if kept:
            self._log(f"{self._title}: kept {len(kept)} of {len(keys)} shards")
        record.complete = record.complete and not missing
        record.save(self._folder, self._base)
        if missing:
            self._make(manifest, record, corpus, inputs, keys, missing)
        if not record.complete:
            # A task that was killed after its last shard has nothing missing either.
            record.complete = True
            record.save(self._folder, self._base)
            if record.staged is not None:
                self._clean(record.staged["work"])
        self._log(
            f"{self._title}: made {len(keys)} shards in {self._folder}; once all tasks are done, "
            "run the same command without --task_id and --num_tasks to complete the data"
        )

    def _make(
        self,
        manifest: Manifest,
        record: TaskRecord,
        corpus: Corpus,
        inputs: Inputs,
        keys: list[ShardKey],
        missing: list[ShardKey],
    ) -> None:
        try:
            self._work.mkdir(exist_ok=True)
        except OSError as error:
            raise explain_os_error(error, self._work) from error
        workers = processes(self._options.num_workers)
        stager = SplitStager(
            self._problem,
            corpus,
            inputs,
            manifest,
            folder=self._folder,
            work=self._work,
            log=self._log,
            workers=workers,
        )
        own = sorted({number for _, number in keys})
        self._require_space(manifest, stager, corpus.text_bytes("train"), own, workers)
        staged = stager.stage_shards(own, self._text)
        if staged.content:
            record.staged = None
        else:
            record.staged = {"pairs": staged.pairs, "faults": staged.faults, "work": staged.work}
        record.save(self._folder, self._base)
        described = len(own) if record.staged else manifest.options["num_shards"]

        def done(key: ShardKey, entry: dict[str, Any]) -> None:
            record.shards.setdefault(key[0], {})[str(key[1])] = entry
            record.save(self._folder, self._base)

        write_missing(
            missing,
            manifest,
            stager,
            folder=self._folder,
            pairs=round(staged.pairs * len(missing) / described),
            num_workers=self._options.num_workers,
            log=self._log,
            done=done,
        )

    def _take_vocabulary(self, manifest: Manifest) -> None:
        given = given_vocabularies(self._options)
        if given:
            lock = self._folder / f".{self._base}-vocabulary-lock"
            with locks.exclusive(lock, wait=True):
                made = take_vocabularies(self._problem, self._folder, given, self._log)
                manifest.vocabulary = new_entries(made, manifest.vocabulary, given=True)
                for vocabulary in made:
                    vocabulary.write()
        entries = manifest.vocabulary
        if not entries or not all(
            has_checksum(self._folder / entry["file"], entry["sha256"]) for entry in entries
        ):
            raise UserError(
                f"{self._title}: {self._folder} has no vocabulary yet, which all tasks share: "
                "run the same command with --only_vocabulary instead of --task_id and --num_tasks "
                "once, and give tasks that use other folders a copy of what it wrote; or name a "
                "vocabulary with --vocab_file"
            )

    def _record(self, manifest: Manifest, inputs: Inputs) -> TaskRecord:
        """Return the record of this task, with the shards that are intact."""
        fresh = TaskRecord(
            self._task.index,
            self._task.count,
            manifest.options,
            dict(inputs.checksums),
            dict(inputs.parts),
            new_manifest(self._problem, self._options).versions,
            manifest.vocabulary,
        )
        found = fresh
        for record in load_records(self._folder, self._base):
            difference = record.differs_from(fresh)
            if record.tasks != self._task.count:
                difference = f"--num_tasks={record.tasks}"
            if difference:
                raise UserError(
                    f"{self._title} differs from {record.of} in {self._folder} ({difference}); "
                    "give all tasks the same flags, raw files and vocabulary, use another "
                    f"--data_dir, or delete {record.of.record_path(self._folder, self._base).name}"
                )
            if record.task == self._task.index:
                found = record
        for split, number, entry in list(found.entries()):
            if not has_checksum(self._folder / entry["file"], entry["sha256"]):
                del found.shards[split][str(number)]
        return found

    def _require_space(
        self,
        manifest: Manifest,
        stager: SplitStager,
        text_bytes: int,
        own: list[int],
        workers: int,
    ) -> None:
        share = len(own) / manifest.options["num_shards"]
        space = data_space(text_bytes, manifest.options, workers=workers, share=share)
        texts = [path for shard in own for path in stager.dealt()[shard]]
        shards = [p for n in own for p in self._folder.glob(f"{self._base}-train*-{n:05d}-of-*")]
        need = Need(
            self._folder,
            space.most - used_bytes([*texts, *shards]),
            space.purpose,
        )
        require_space([need], title=self._title, log=self._log)

    def _clean(self, names: dict[str, str]) -> None:
        """Delete the text that this task has staged for itself alone."""
        forget(self._work, self._text)
        for name in names:
            (self._work / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            # Other tasks may have their text there.
            self._work.rmdir()
