"""Makes vocabularies and record shards from a raw corpus, in steps that can be resumed."""

from __future__ import annotations

import itertools
import os
import pathlib
import shutil
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from t2t_phrase import __version__
from t2t_phrase.config import UserError
from t2t_phrase.data.generation.lock import exclusive
from t2t_phrase.data.generation.manifest import Manifest, intact, manifest_path
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.progress import Log, Progress
from t2t_phrase.data.generation.records import ShardTask, shard_name
from t2t_phrase.data.generation.staging import feature_streams, stage
from t2t_phrase.data.generation.summary import summary
from t2t_phrase.data.generation.vocabulary import learn_vocabulary, sample, vocabulary_options
from t2t_phrase.data.generation.workers import write_shards
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus
from t2t_phrase.features import Feature
from t2t_phrase.files import explain_os_error, sha256_of

# Above this many pairs the start of worker processes is worth its seconds.
_MANY_PAIRS = 200_000


def generate(
    problem: Problem,
    data_dir: str,
    tmp_dir: str,
    *,
    options: GenerateOptions = GenerateOptions(),  # noqa: B008 (immutable)
    log: Log = print,
) -> Manifest:
    """Write vocabularies, record shards and kept text; continue where an earlier run stopped.

    Args:
        problem: what to generate; both directions of a problem share their data.
        data_dir: where the data go.
        tmp_dir: where the raw corpus is, or where it is downloaded to.
        options: what differs from the problem's defaults.
        log: takes one line of progress.

    Raises:
        UserError: the raw corpus is missing or faulty, the disk is full, or `data_dir` holds data
            of this problem made with other options.
    """
    folder = pathlib.Path(data_dir).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, folder) from error
    with exclusive(folder, problem.base_name):
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
        self._num_shards = options.num_shards or problem.num_shards
        self._work = folder / f".{self._base}-work"
        self._path = manifest_path(folder, self._base)
        self._manifest = self._load()
        self._streams: tuple[str, ...] = ()
        self._features: tuple[Feature, ...] = ()

    def run(self) -> Manifest:
        """Do the remaining steps."""
        if self._manifest.complete and self._all_intact():
            at_hand = self._problem.inputs_at_hand(self._tmp_dir)
            self._manifest.require_same_inputs(self._path, at_hand)
            new = self._new_features()
            if not new:
                self._log(f"{self._base}: complete in {self._folder}, nothing to do")
                return self._manifest
            self._log(f"{self._base}: new side files found; adding {', '.join(new)} to the records")
        corpus = self._problem.corpus(self._tmp_dir)
        self._streams = corpus.side_streams()
        self._features = tuple(f for f in self._problem.features if f.side_stream in self._streams)
        inputs = corpus.inputs()
        self._manifest.require_same_inputs(self._path, inputs)
        self._manifest.inputs.update(inputs)
        self._manifest.complete = False
        self._save()
        self._work.mkdir(exist_ok=True)
        for split in corpus.splits():
            self._check_shards(split)
            if not self._staged(split):
                self._stage(corpus, split)
        if not self._has_vocabulary():
            self._learn_vocabularies()
        self._write_shards()
        self._manifest.complete = True
        self._save()
        shutil.rmtree(self._work)
        self._summarize()
        return self._manifest

    def _load(self) -> Manifest:
        options = {
            "num_shards": self._num_shards,
            **vocabulary_options(self._problem, self._options),
            "character_coverage": self._problem.character_coverage,
            "vocab_pairs": self._problem.vocab_pairs,
            "max_characters": self._options.max_characters or self._problem.max_characters,
            "max_cases": self._options.max_cases,
            "random_seed": self._options.random_seed,
        }
        manifest = Manifest.load(self._path)
        if manifest is None:
            versions = {name: metadata.version(name) for name in ("sentencepiece", "tensorflow")}
            versions["t2t_phrase"] = __version__
            return Manifest(problem=self._base, options=options, versions=versions)
        manifest.require_same(self._path, options)
        return manifest

    def _save(self) -> None:
        self._manifest.save(self._path)

    def _all_intact(self) -> bool:
        splits = self._manifest.splits.values()
        entries = [*self._manifest.vocabulary, *(s for split in splits for s in split["shards"])]
        return all(intact(self._folder, entry) for entry in entries) and all(
            self._texts_intact(split) for split in splits
        )

    def _texts_intact(self, split: dict[str, Any]) -> bool:
        return all(
            intact(self._folder, {"file": name, "sha256": checksum})
            for name, checksum in {**split["text"], **split["side"]}.items()
        )

    def _new_features(self) -> list[str]:
        """Return names of features that finished records lack, though their files now exist."""
        streams = self._problem.streams_at_hand(self._tmp_dir)
        return [
            feature.name
            for feature in self._problem.features
            if feature.side_stream in streams and not self._manifest.has_feature(feature.name)
        ]

    def _check_shards(self, split: str) -> None:
        """Drop the manifest's shards that are damaged or hold other features."""
        entry = self._manifest.splits.get(split)
        if entry:
            shards = entry["shards"]
            entry["shards"] = [
                shard if intact(self._folder, shard) and self._fits(shard) else None
                for shard in shards
            ]
            if kept := sum(shard is not None for shard in entry["shards"]):
                self._log(f"{self._base} {split}: kept {kept} of {len(shards)} shards")

    def _staged(self, split: str) -> bool:
        entry = self._manifest.splits.get(split)
        if entry is None or not self._texts_intact(entry):
            return False
        if list(entry["side"]) != self._side_names(split):
            return False
        if split != "train":
            return True
        if all(entry["shards"]) and self._has_vocabulary():
            return True
        return all(path.is_file() for group in self._dealt() for path in group)

    def _fits(self, shard: dict[str, Any]) -> bool:
        """Return whether a shard holds the features that it should hold."""
        return all((f.name in shard) == (f in self._features) for f in self._problem.features)

    def _side_names(self, split: str) -> list[str]:
        return [f"{self._base}-{split}.{suffix}" for suffix in self._streams]

    def _dealt(self) -> list[list[pathlib.Path]]:
        """Return the work files of each training shard: source, target and streams of features."""
        suffixes = ("source", "target", *feature_streams(self._features))
        return [
            [self._work / f"train-{i:05d}.{suffix}" for suffix in suffixes]
            for i in range(self._num_shards)
        ]

    def _stage(self, corpus: Corpus, split: str) -> None:
        train = split == "train"
        pairs = corpus.pairs(split)
        if train and self._options.max_cases:
            pairs = itertools.islice(pairs, self._options.max_cases)
        first = next(pairs, None)
        if first is None:
            raise UserError(f"{self._base}: the {split} set is empty")
        side = self._side_names(split)
        text = self._text_names(split, len(first.texts)) if side or not train else []
        progress = Progress(f"{self._base} {split}: read", self._log)
        result = stage(
            itertools.chain([first], pairs),
            dealt=self._dealt() if train else [],
            whole=[self._work / name for name in [*text, *side]],
            drop_faulty=train,
            max_characters=self._manifest.options["max_characters"],
            progress=progress,
            streams=self._streams,
            features=self._features,
        )
        self._log(progress.describe())
        for message in result.messages:
            self._log(f"{self._base} {split}: {message}")
        checksums = {name: sha256_of(self._work / name) for name in [*text, *side]}
        for name in checksums:
            os.replace(self._work / name, self._folder / name)
        earlier = self._manifest.splits.get(split, {})
        self._manifest.splits[split] = {
            "pairs": result.pairs,
            "faults": result.faults,
            "text": {name: checksums[name] for name in text},
            "side": {name: checksums[name] for name in side},
            "shards": earlier.get("shards", [None] * (self._num_shards if train else 1)),
        }
        self._save()

    def _text_names(self, split: str, texts: int) -> list[str]:
        source, target = (f"{self._base}-{split}.{name}" for name in self._problem.languages)
        return [source, target, *(f"{target}.{i}" for i in range(1, texts - 1))]

    def _has_vocabulary(self) -> bool:
        entries = self._manifest.vocabulary
        return bool(entries) and all(intact(self._folder, entry) for entry in entries)

    def _learn_vocabularies(self) -> None:
        options = self._manifest.options
        name = f"vocab.{self._base}"
        if options["shared_vocab"]:
            found = [self._learn(name, "joint", (0, 1), options["vocab_size"])]
        else:
            sizes = (options["vocab_size"], options["target_vocab_size"])
            found = [
                self._learn(f"{name}.{language}", language, (column,), sizes[column])
                for column, language in enumerate(self._problem.languages)
            ]
        if self._manifest.vocabulary not in ([], found):
            # Another release of SentencePiece may learn others, which the old shards do not fit.
            for entry in self._manifest.splits.values():
                entry["shards"] = [None] * len(entry["shards"])
        self._manifest.vocabulary = found
        self._save()

    def _learn(self, name: str, title: str, columns: Sequence[int], size: int) -> dict[str, Any]:
        options = self._manifest.options
        pairs = self._manifest.splits["train"]["pairs"]
        share = min(1.0, options["vocab_pairs"] / pairs)
        taken = f"about {options['vocab_pairs']:,} of " if share < 1 else ""
        units = options["vocab_type"]
        self._log(
            f"{self._base}: learning {size:,} {title} {units} from {taken}{pairs:,} sentence pairs"
        )
        entry = learn_vocabulary(
            self._folder / f"{name}.{size}.{'txt' if units == 'words' else 'model'}",
            sample(self._dealt(), columns, share),
            vocab_type=units,
            vocab_size=size,
            character_coverage=options["character_coverage"],
        )
        if entry["size"] < size:
            self._log(f"{self._base}: the text has only {entry['size']:,} {title} {units}")
        return entry

    def _write_shards(self) -> None:
        tasks = {}
        splits = self._manifest.splits
        files = [str(self._folder / entry["file"]) for entry in self._manifest.vocabulary]
        for split, entry in splits.items():
            for index, shard in enumerate(entry["shards"]):
                if shard is None:
                    source, target, *side = map(str, self._shard_text(split, index))
                    name = shard_name(self._base, split, index, len(entry["shards"]))
                    seed = f"{self._options.random_seed}-{index}" if split == "train" else None
                    tasks[split, index] = ShardTask(
                        source=source,
                        target=target,
                        output=str(self._folder / name),
                        vocabularies=(files[0], files[-1]),
                        shuffle_seed=seed,
                        side=dict(zip(feature_streams(self._features), side, strict=True)),
                        features=self._features,
                    )
        kept = sum(s["records"] for entry in splits.values() for s in entry["shards"] if s)
        left = sum(entry["pairs"] for entry in splits.values()) - kept
        progress = Progress(f"{self._base}: encoded", self._log, total=left)
        for key, entry in write_shards(tasks, num_workers=self._workers(left)):
            split, index = key
            splits[split]["shards"][index] = entry
            self._save()
            progress.advance(entry["records"])
        self._log(progress.describe())

    def _shard_text(self, split: str, index: int) -> list[pathlib.Path]:
        """Return the files with a shard's sources, targets and streams of features."""
        if split == "train":
            return self._dealt()[index]
        side = [f"{self._base}-{split}.{stream}" for stream in feature_streams(self._features)]
        return [self._folder / name for name in (*self._text_names(split, 2), *side)]

    def _workers(self, pairs: int) -> int:
        return self._options.num_workers or (os.cpu_count() or 1 if pairs > _MANY_PAIRS else 1)

    def _summarize(self) -> None:
        self._log(f"{self._base}: written to {self._folder}")
        for line in summary(self._problem, self._manifest, self._features):
            self._log(f"  {line}")
        self._log(
            f"next: t2t-phrase-trainer --problem={self._problem.name} --data_dir={self._folder} "
            f"--hparams_set={self._problem.hparams_set} --output_dir=..."
        )
