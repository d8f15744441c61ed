"""A translation problem: where its text comes from and where its data lies."""

from __future__ import annotations

import abc
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.data.generation.manifest import Manifest, manifest_path
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.lines import read_lines
from t2t_phrase.data.sources.corpus import Corpus
from t2t_phrase.data.sources.tree_files import TREES, tree_lines

if TYPE_CHECKING:
    from t2t_phrase.text.subwords.encoder import SubwordEncoder

REVERSED = "_rev"


class Problem(abc.ABC):
    """Base of every problem; a subclass states facts and says where the corpus is.

    Register a subclass with `registry.problems.register`; its name is the class name in snake
    case. `get_problem("name_rev")` gives the same problem with source and target exchanged; the
    files on disk are those of the problem as it stands, shared by both directions.
    """

    languages: ClassVar[tuple[str, str]]  # source and target; they end the kept text files
    vocab_size: ClassVar[int]  # pieces of the joint vocabulary
    num_shards: ClassVar[int] = 10  # training shards; dev and test have one each
    character_coverage: ClassVar[float] = 1.0  # see train_subwords
    vocab_pairs: ClassVar[int] = 2_000_000  # at most as many pairs teach the vocabulary
    max_characters: ClassVar[int] = 4000  # a longer side is a fault
    takes_trees: ClassVar[bool] = True  # whether trees may lie beside the source files
    hparams_set: ClassVar[str] = "transformer_base"  # what to train it with, as a start

    def __init__(self, *, reversed: bool = False) -> None:
        self.reversed = reversed

    def __init_subclass__(cls) -> None:
        if registry.snake_case(cls.__name__).endswith(REVERSED):
            raise TypeError(f"{cls.__name__}: {REVERSED} is read as a direction, not as a name")

    @property
    def base_name(self) -> str:
        """Name of the problem without `_rev`: the data's name on disk."""
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
            UserError: it cannot be had.
        """

    def inputs_at_hand(self, tmp_dir: str) -> dict[str, str]:
        """Return checksums of the raw data as far as it can be had without a download.

        Finished data is held against them. Files that are checked whenever they are fetched need
        not be listed.
        """
        del tmp_dir
        return {}

    def generate(
        self,
        data_dir: str,
        tmp_dir: str,
        *,
        options: GenerateOptions | None = None,
        log: Callable[[str], None] = print,
    ) -> Manifest:
        """Write vocabulary, record shards and kept text to `data_dir`; go on where a kill left off.

        Raises:
            UserError: the raw corpus is missing or faulty, the disk is full, or `data_dir` holds
                this problem made with other options.
        """
        # Names and hparams sets can be listed where no TensorFlow is installed.
        from t2t_phrase.data.generation.generate import generate

        return generate(self, data_dir, tmp_dir, options=options or GenerateOptions(), log=log)

    def has_data(self, data_dir: str) -> bool:
        """Return whether `data_dir` holds the problem's finished data."""
        manifest = Manifest.load(manifest_path(_folder(data_dir), self.base_name))
        return manifest is not None and manifest.complete

    def text_encoder(self, data_dir: str) -> SubwordEncoder:
        """Return the joint vocabulary.

        Raises:
            UserError: the data is not there yet.
        """
        from t2t_phrase.text.subwords.encoder import SubwordEncoder

        folder = _folder(data_dir)
        return SubwordEncoder.load(folder / self._manifest(folder).vocabulary["file"])

    def record_files(self, data_dir: str, split: str) -> list[str]:
        """Return the paths of the split's record shards, in order.

        Raises:
            UserError: the data is not there yet, or the problem has no such split.
        """
        folder = _folder(data_dir)
        shards = self._split(folder, split)["shards"]
        return [str(folder / shard["file"]) for shard in shards]

    def raw_text(self, data_dir: str, split: str) -> tuple[list[str], list[str]]:
        """Return the source sentences and the (first) references of dev or test, as text.

        Raises:
            UserError: the data is not there yet, or the split's text is not kept.
        """
        sources, references = self._texts(data_dir, split)
        return sources, references[0]

    def raw_references(self, data_dir: str, split: str) -> list[list[str]]:
        """Return all references, one list of sentences for each.

        Raises:
            UserError: as `raw_text`.
        """
        return self._texts(data_dir, split)[1]

    def require_phrases(self, data_dir: str) -> None:
        """Check that the records hold the phrases of the sources.

        Raises:
            UserError: they do not; the message says what to do.
        """
        if self.reversed:
            raise UserError(
                f"the trees of {self.base_name} are of its {self.languages[0]} side, but "
                f"{self.name} translates from {self.languages[1]}: it has no phrases for a model "
                f"that reads them; train it on {self.base_name}, or choose an hparams set whose "
                "phrases are n-grams"
            )
        if not self.takes_trees:
            raise UserError(
                f"{self.base_name} reads archives and takes no trees, so it has no phrases for a "
                "model that reads them: name the text files and put their trees beside them as "
                "docs/trees.md says, and train on translate_text; or choose an hparams set whose "
                "phrases are n-grams"
            )
        folder = _folder(data_dir)
        if not self._manifest(folder).has_phrases:
            path = manifest_path(folder, self.base_name)
            raise UserError(
                f"the records of {self.base_name} in {folder} hold no phrases, which the model "
                f"reads: put trees beside every source file in --tmp_dir (train."
                f"{self.languages[0]}.{TREES} and so on, made by t2t-phrase-parse), delete {path}, "
                f"and run t2t-phrase-datagen --problem={self.base_name} --data_dir={folder}"
            )

    def raw_phrases(self, data_dir: str, split: str) -> list[list[str]]:
        """Return every kept source sentence cut into the phrases of its tree.

        Raises:
            UserError: as `require_phrases`.
        """
        from t2t_phrase.text.trees.subword_phrases import cut_lines

        self.require_phrases(data_dir)
        folder = _folder(data_dir)
        name = f"{self.base_name}-{split}.{TREES}"
        sources, _ = self.raw_text(data_dir, split)
        return cut_lines(sources, list(tree_lines(folder / name)), str(folder / name))

    def _texts(self, data_dir: str, split: str) -> tuple[list[str], list[list[str]]]:
        folder = _folder(data_dir)
        names = self._split(folder, split)["text"]
        if not names:
            raise UserError(f"{self.name} keeps no text of its {split} set")
        columns = [[str(line) for line in read_lines(folder / name)] for name in names]
        if self.reversed:
            return columns[1], [columns[0]]
        return columns[0], columns[1:]

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
                f"there is {state} data of {self.base_name} in {folder}; make it with "
                f"t2t-phrase-datagen --problem={self.base_name} --data_dir={folder}"
            )
        return manifest


def get_problem(name: str) -> Problem:
    """Return the problem called `name`; `_rev` at its end reverses it.

    Raises:
        UnknownNameError: nobody registered it.
    """
    base = name.removesuffix(REVERSED)
    if base not in registry.problems:
        registry.discover()
    problem: Problem = registry.problems[base](reversed=base != name)
    return problem


def _folder(data_dir: str) -> pathlib.Path:
    return pathlib.Path(data_dir).expanduser()
