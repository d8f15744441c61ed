"""A translation problem: where its text comes from, and access to its generated data."""

from __future__ import annotations

import abc
import pathlib
from collections.abc import Sequence
from typing import Any, ClassVar

from t2t_phrase import registry
from t2t_phrase.config import UserError, shown
from t2t_phrase.corpus_sizes import AUTO
from t2t_phrase.data.generation.manifest import Manifest, manifest_path
from t2t_phrase.data.generation.options import VocabType
from t2t_phrase.data.generation.segmentations import sample_split
from t2t_phrase.data.generation.staged import has_checksum
from t2t_phrase.data.sources.corpus import Corpus
from t2t_phrase.data.sources.inputs import Inputs, RawSpace
from t2t_phrase.data.sources.side_files import MAKERS, side_lines
from t2t_phrase.features import (
    ALIGNMENT,
    ALIGNMENT_REV,
    LEVELS,
    OTHER,
    PHRASES,
    TAGS,
    Feature,
    Side,
)
from t2t_phrase.io.files import expanded
from t2t_phrase.io.lines import read_lines
from t2t_phrase.text.annotations.base import read_annotations
from t2t_phrase.text.vocabularies import Vocabularies

REVERSED = "_rev"
# Suffix of the names of tensor2tensor's problems whose rows hold several pairs.
PACKED = "_packed"


class Problem(abc.ABC):
    """Base class of all problems; a subclass defines its properties and its corpus.

    Register a subclass with `registry.problems.register`; its name is the class name in snake
    case. `get_problem("name_rev")` returns the same problem with source and target exchanged. Both
    directions share their files, whose source and target are those of the problem without `_rev`.

    A problem has one vocabulary for both languages or one for each, of subwords or of words. Words
    are separated by blanks, so the text of a problem with words must be tokenised.

    Args:
        reversed: whether source and target are exchanged.

    Raises:
        UserError: the class does not name two different languages.
    """

    languages: ClassVar[tuple[str, str]]  # source and target; endings of the kept text files
    vocab_size: ClassVar[int] = AUTO  # entries of the vocabulary, or of the source's if two
    target_vocab_size: ClassVar[int] = 0  # entries of the target's; 0 = `vocab_size`
    shared_vocab: ClassVar[bool] = True  # whether source and target share one vocabulary
    vocab_type: ClassVar[VocabType] = "subwords"
    user_defined_symbols: ClassVar[tuple[str, ...]] = ()  # words that are always one entry
    num_shards: ClassVar[int] = 10  # training shards; dev and test have one each
    character_coverage: ClassVar[float] = 1.0  # see train_subwords
    vocab_pairs: ClassVar[int] = 2_000_000  # maximum number of pairs to learn vocabularies from
    max_characters: ClassVar[int] = 4000  # a longer side is a fault
    features: ClassVar[tuple[Feature, ...]] = (  # in addition to ids
        PHRASES,
        LEVELS,
        TAGS,
        ALIGNMENT,
        ALIGNMENT_REV,
    )
    hparams_set: ClassVar[str] = "transformer_base"  # a good set to start with; "": by corpus size
    train_steps: ClassVar[int] = 0  # updates for that set; 0: the trainer's default
    bleu_tokenize: ClassVar[str] = "13a"  # of sacreBLEU; "none": the texts are tokenised

    def __init__(self, *, reversed: bool = False) -> None:
        self.reversed = reversed
        languages: Sequence[str] = getattr(self, "languages", ())
        if len(languages) != 2 or languages[0] == languages[1]:
            raise UserError(
                f"problem {self.base_name}: languages = {shown(languages)}; its class must name "
                "two different ones, in which its files end, such as ('en', 'de')"
            )

    def __init_subclass__(cls) -> None:
        if registry.snake_case(cls.__name__).endswith(REVERSED):
            raise TypeError(f"{cls.__name__}: {REVERSED} marks a direction and cannot end a name")

    @property
    def base_name(self) -> str:
        """Name of the problem without `_rev`, which the names of its files begin with."""
        return registry.snake_case(type(self).__name__)

    @property
    def name(self) -> str:
        """Name of the problem, `_rev` included."""
        return self.base_name + (REVERSED if self.reversed else "")

    @property
    def source_language(self) -> str:
        """Language translated from, in this direction."""
        return self.languages[1 if self.reversed else 0]

    @property
    def target_language(self) -> str:
        """Language translated into, in this direction."""
        return self.languages[0 if self.reversed else 1]

    @abc.abstractmethod
    def corpus(self, tmp_dir: str) -> Corpus:
        """Return the raw corpus, downloaded to or found in `tmp_dir`.

        Raises:
            UserError: the corpus is missing and cannot be downloaded.
        """

    def inputs_at_hand(self, tmp_dir: str) -> Inputs:
        """Return the raw data as far as they are known without a download.

        They are compared with the raw data that finished data were made from, unless none exist.
        If finished data lack features whose side files exist, these features are added.

        Raises:
            UserError: files exist, but they cannot be read or do not belong together.
        """
        del tmp_dir
        return Inputs()

    def raw_space(self, tmp_dir: str) -> RawSpace:
        """Return the disk space in `tmp_dir` that `corpus` still needs; zero if its files exist.

        Raises:
            UserError: a raw file cannot be read.
        """
        del tmp_dir
        return RawSpace()

    def has_data(self, data_dir: str) -> bool:
        """Return whether `data_dir` has the complete data of the problem."""
        manifest = Manifest.load(manifest_path(_folder(data_dir), self.base_name))
        return manifest is not None and manifest.complete

    def pairs(self, data_dir: str, split: str) -> int:
        """Return the number of sentence pairs of a split.

        Raises:
            UserError: there are no data yet.
        """
        return int(self._split(_folder(data_dir), split)["pairs"])

    def vocabularies(self, data_dir: str) -> Vocabularies:
        """Return the encoders of source and target, in this direction.

        Raises:
            UserError: there are no data yet, or a vocabulary is missing or damaged.
        """
        # Problems can be listed where SentencePiece is not installed.
        from t2t_phrase.text.encoders import load_encoder

        folder = _folder(data_dir)
        found = []
        for entry in self._manifest(folder).vocabulary:
            self._require_content(folder, entry["file"], entry["sha256"])
            found.append(load_encoder(folder / entry["file"]))
        stored = Vocabularies(found[0], found[-1])
        return stored.reversed if self.reversed else stored

    def record_files(self, data_dir: str, split: str) -> list[str]:
        """Return the paths of the split's record shards, in order.

        Raises:
            UserError: there are no data yet, the problem has no such split, or a shard is missing
                or has changed in size since it was written.
        """
        # Problems can be listed without starting TensorFlow.
        from t2t_phrase.data.generation.damage import miscounted_splits, shard_damage

        folder = _folder(data_dir)
        shards = self._split(folder, split)["shards"]
        for shard in shards:
            if damage := shard_damage(folder, shard):
                raise UserError(f"{damage}; {self._repair(folder)}")
        if split in miscounted_splits(self._manifest(folder)):
            raise UserError(
                f"the {split} shards of {self.base_name} in {folder} do not hold all sentence "
                f"pairs; {self._repair(folder)}"
            )
        return [str(folder / shard["file"]) for shard in shards]

    def sampled_files(self, data_dir: str, segmentations: int) -> list[list[str]]:
        """Return the shards of the first `segmentations` random segmentations of the training set.

        Raises:
            UserError: the data have fewer segmentations, or as for `record_files`.
        """
        if not segmentations:
            # Problems with their own kind of records thus need no manifest.
            return []
        folder = _folder(data_dir)
        known = self._manifest(folder).options.get("sampled_segmentations", 0)
        if known < segmentations:
            raise UserError(
                f"sampled_segmentations={segmentations}: the data of {self.base_name} in {folder} "
                f"have {known}; make new data with t2t-phrase-datagen "
                f"--sampled_segmentations={segmentations} in another --data_dir"
            )
        return [self.record_files(data_dir, sample_split(n)) for n in range(segmentations)]

    def data_digest(
        self, data_dir: str, features: Sequence[Feature], segmentations: int = 0
    ) -> str:
        """Return a digest of a model's training data: content, number and order of the shards.

        It is the same for both directions, unless a feature has a counterpart.

        Args:
            data_dir: where the data are.
            features: the features that the model reads; others do not matter.
            segmentations: number of random segmentations of the training set that it reads.

        Returns:
            A SHA-256 in hexadecimal; "" for unfinished data or data without a manifest.
        """
        manifest = Manifest.load(manifest_path(_folder(data_dir), self.base_name))
        names = [feature.stored_name(reversed=self.reversed) for feature in features]
        return manifest.digest(names, segmentations) if manifest else ""

    def raw_text(self, data_dir: str, split: str) -> tuple[list[str], list[str]]:
        """Return the source sentences and the (first) references of dev or test, as text.

        Raises:
            UserError: there are no data yet, or the split's text is not kept.
        """
        sources, references = self._texts(data_dir, split)
        return sources, references[0]

    def raw_references(self, data_dir: str, split: str) -> list[list[str]]:
        """Return all sets of references, each a list of sentences.

        Raises:
            UserError: as for `raw_text`.
        """
        return self._texts(data_dir, split)[1]

    def require_features(self, data_dir: str, features: Sequence[Feature]) -> None:
        """Check that the records hold the features that a model reads.

        Raises:
            UserError: a feature is missing; the message says what to do.
        """
        for feature in features:
            self._require(_folder(data_dir), feature)

    def raw_features(
        self, data_dir: str, split: str, features: Sequence[Feature]
    ) -> dict[str, list[str]]:
        """Return the text form of features for each kept sentence, by name.

        Raises:
            UserError: as for `require_features` and `raw_text`, or a kept file has been changed.
        """
        self.require_features(data_dir, features)
        source, target = self.raw_text(data_dir, split)
        sides: dict[Side, list[str]] = {"source": source, "target": target}
        found = {}
        for feature in features:
            stored = self._stored(feature)
            folder, name = _folder(data_dir), f"{self.base_name}-{split}.{stored.side_stream}"
            self._require_content(folder, name, self._split(folder, split)["side"].get(name, ""))
            path = folder / name
            own = stored.reversed.side if self.reversed else stored.side
            found[feature.name] = read_annotations(
                stored,
                sides[own],
                list(side_lines(path, drop_mark=False)),
                str(path),
                others=sides[OTHER[own]],
            )
        return found

    def labels(self, data_dir: str, feature: str) -> list[str]:
        """Return the names of a feature's labels, in the order of their integers; [] if none.

        Raises:
            UserError: there are no data yet.
        """
        from t2t_phrase.data.generation.labels import read_labels

        folder = _folder(data_dir)
        return read_labels(folder, self._manifest(folder).labels).get(feature, [])

    def _stored(self, feature: Feature) -> Feature:
        """Return the feature in the records that a model reads as this feature."""
        known = {stored.name: stored for stored in self.features}
        return known[feature.stored_name(reversed=self.reversed)]

    def _require(self, folder: pathlib.Path, feature: Feature) -> None:
        known = {stored.name: stored for stored in self.features}
        remedy = f"choose an hparams set that does not read {feature.name!r}"
        if feature.stored_name(reversed=self.reversed) not in known:
            raise UserError(
                f"{self.base_name} has no feature {feature.name!r}, which the model reads (its "
                f"features: {', '.join(known) or 'none'}); train on a problem that has it, such "
                f"as translate_text with side files beside your text files for 'phrases' (see "
                f"docs/trees.md), or {remedy}"
            )
        stored = self._stored(feature)
        if feature.side != (stored.reversed if self.reversed else stored).side:
            language = self.languages[0 if stored.side == "source" else 1]
            raise UserError(
                f"{stored.name!r} describes the {language} side of {self.base_name}, which is not "
                f"the {feature.side} of {self.name}, but the model reads it there; train in the "
                f"other direction, or {remedy}"
            )
        if not self._manifest(folder).has_feature(stored.name):
            language = self.languages[0 if stored.file_side == "source" else 1]
            maker = MAKERS.get(stored.stream, "")
            maker = f", made by {maker}" if maker else ""
            raise UserError(
                f"the records of {self.base_name} in {folder} have no {stored.name!r}, which the "
                f"model reads: put the files train.{language}.{stored.stream} and so on{maker}, "
                f"beside all {language} files in --tmp_dir, and repeat the command that made the "
                f"data, t2t-phrase-datagen --problem={self.base_name} --data_dir={folder} ..."
            )

    def _texts(self, data_dir: str, split: str) -> tuple[list[str], list[list[str]]]:
        folder = _folder(data_dir)
        names = self._split(folder, split)["text"]
        if not names:
            raise UserError(f"{self.name} keeps no text of its {split} set")
        for name, sha256 in names.items():
            self._require_content(folder, name, sha256)
        columns = [list(map(str, read_lines(folder / n, drop_mark=False))) for n in names]
        if self.reversed:
            return columns[1], [columns[0]]
        return columns[0], columns[1:]

    def _require_content(self, folder: pathlib.Path, name: str, sha256: str) -> None:
        path = folder / name
        if not has_checksum(path, sha256):
            state = "is damaged: its checksum differs" if path.is_file() else "is missing"
            raise UserError(f"{path} {state}; {self._repair(folder)}")

    def _repair(self, folder: pathlib.Path) -> str:
        return (
            f"to repair it, run t2t-phrase-datagen --problem={self.base_name} --data_dir={folder} "
            "with the other original flags"
        )

    def _split(self, folder: pathlib.Path, split: str) -> dict[str, Any]:
        splits = self._manifest(folder).splits
        if split not in splits:
            raise UserError(
                f"{self.name} has no {split!r} split in {folder}; it has {', '.join(splits)}"
            )
        return splits[split]

    def _manifest(self, folder: pathlib.Path) -> Manifest:
        manifest = Manifest.load(manifest_path(folder, self.base_name))
        if manifest is None or not manifest.complete:
            state = "no" if manifest is None else "only unfinished"
            raise UserError(
                f"there are {state} data of {self.base_name} in {folder}; make them with "
                f"t2t-phrase-datagen --problem={self.base_name} --data_dir={folder}"
            )
        return manifest


def get_problem(name: str) -> Problem:
    """Return the problem called `name`; `_rev` at the end of the name reverses it.

    Raises:
        UnknownNameError: no such problem is registered.
        UserError: the name is tensor2tensor's for packed rows, which are a training option here;
            the class lacks a method that every problem defines; or as for `Problem`.
    """
    base = name.removesuffix(REVERSED)
    if base not in registry.problems:
        registry.discover()
    plain = base.removesuffix(PACKED)
    if base not in registry.problems and plain != base and plain in registry.problems:
        raise UserError(
            f"--problem={name}: rows of any problem can be packed; use "
            f"--problem={plain}{name.removeprefix(base)} with --hparams=packed_length=256"
        )
    made = registry.problems[base]
    if missing := sorted(getattr(made, "__abstractmethods__", ())):
        raise UserError(
            f"problem {base}: {made.__name__} does not define {', '.join(missing)}, as every "
            "problem must"
        )
    problem: Problem = made(reversed=base != name)
    return problem


def _folder(data_dir: str) -> pathlib.Path:
    return expanded(data_dir)
