"""Problems with the user's own text, in files found by name in `--tmp_dir`."""

from __future__ import annotations

import dataclasses
import glob
import itertools
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from t2t_phrase.config import UserError, nearest, shown
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.collections import as_file, at_hand, packed_bytes
from t2t_phrase.data.sources.corpus import SPLITS, Corpus, Pair, TextCorpus
from t2t_phrase.data.sources.inputs import Inputs, RawSpace
from t2t_phrase.data.sources.side_files import text_column
from t2t_phrase.data.sources.text_size import text_size
from t2t_phrase.features import Feature
from t2t_phrase.io.files import expanded
from t2t_phrase.io.strict_json import parse_json
from t2t_phrase.io.text_files import read_text

Parts = list[list[pathlib.Path]]
# The key in a file list for how often the pairs of each training part occur in an epoch.
WEIGHTS, MOST_WEIGHT = "weights", 100
# The longest name of a file or folder, in bytes of UTF-8.
_LONGEST_NAME = 255


class LocalProblem(Problem):
    """A problem of local parallel files.

    For languages `zh` and `en`, each split consists of one or several parts in the folder:

    - `SPLIT.zh` and `SPLIT.en`, or `SPLIT.PART.zh` and `SPLIT.PART.en` for each of several parts,
      in UTF-8 with one sentence per line;
    - `SPLIT.en.0`, `SPLIT.en.1`, ... instead of `SPLIT.en` if a dev or test set has several
      references;
    - or NIST's SGML: a source set `SPLIT.zh.sgm` and a reference set `SPLIT.en.sgm`.

    Text files may be gzipped (`.gz` at the end of the name). Side files of the problem's features,
    with one line for each sentence, may lie beside all text files of a language: constituency trees
    of the sources as `SPLIT.zh.trees`, `SPLIT.PART.zh.trees` or `SPLIT.zh.sgm.trees`.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.data.problem import get_problem
        from t2t_phrase.data.sources.local_problem import LocalProblem

        @registry.problems.register
        class TranslateEnviTalks(LocalProblem):
            languages = ("en", "vi")
            folder = "talks"  # train.en, train.vi, dev.en and dev.vi in TMP_DIR/talks
            optional_splits = ("test",)

        language = get_problem("translate_envi_talks_rev").source_language  # 'vi'
        ```
    """

    hparams_set = ""  # chosen by the size of the corpus

    folder: ClassVar[str] = ""  # within tmp_dir
    references: ClassVar[int] = 0  # required number in dev and test; 0 = any
    optional_splits: ClassVar[tuple[str, ...]] = ()  # splits that may be missing
    file_list: ClassVar[str] = ""  # name of a JSON file that may list the files instead

    def corpus(self, tmp_dir: str) -> Corpus:
        """Return the files as a corpus.

        Raises:
            UserError: files are missing, or the number of references is wrong.
        """
        folder = expanded(tmp_dir) / self.folder
        files = self._files(folder)
        _require_files(folder / self.file_list, files)
        for part in files.get("train", ()):
            if len(part) > 2:
                listing = f", in {self.file_list}" if self.file_list else ""
                raise UserError(
                    f"{part[0]} has {len(part) - 1} targets ({', '.join(map(str, part[1:]))}), but "
                    "training pairs have one: make each target a part of its own, with the same "
                    f"source{listing}"
                )
        for split in SPLITS:
            if not files.get(split) and split not in self.optional_splits:
                source, target = self.languages
                listed = folder / self.file_list
                if self.file_list and listed.is_file():
                    raise UserError(
                        f"{listed} lists no files for {split!r}; files that it does not list are "
                        f'not read: add "{split}": [["FILE.{source}", "FILE.{target}"]]'
                    )
                listing = f", and no {self.file_list}" if self.file_list else ""
                required = [s for s in SPLITS if s not in self.optional_splits]
                names = ", ".join(f"{s}.{x}" for s in required for x in (source, target))
                raise UserError(
                    f"{self.base_name}: no {split}.{source} and {split}.{target} in {folder}"
                    f"{listing}; put {names} there, one sentence a line, or give the folder that "
                    "has them as --tmp_dir"
                )
        return _CheckedCorpus(
            files,
            self.features,
            name=self.base_name,
            references=self.references,
            languages=self.languages,
            listing=folder / self.file_list if self.file_list else None,
        )

    def inputs_at_hand(self, tmp_dir: str) -> Inputs:
        """Return the files that still exist; nothing is extracted or downloaded.

        Raises:
            UserError: some files exist, but do not make up a corpus.
        """
        packed: dict[pathlib.Path, str] = {}
        unknown: list[str] = []

        def resolve(name: str, folder: pathlib.Path) -> pathlib.Path:
            path, sha256 = at_hand(name, folder)
            if path is None:
                unknown.append(name)
                return folder / name
            if sha256:
                packed[path] = sha256
            return path

        corpus = TextCorpus(self._files(expanded(tmp_dir) / self.folder, resolve), self.features)
        found = corpus.inputs()
        checksums = {name: packed[path] for name, path in corpus.names() if path in packed}
        parts = {} if unknown else found.parts
        return dataclasses.replace(found, checksums={**checksums, **found.checksums}, parts=parts)

    def raw_space(self, tmp_dir: str) -> RawSpace:
        """Return the space that texts of archives need which are not unpacked yet."""
        packed: dict[pathlib.Path, int] = {}

        def resolve(name: str, folder: pathlib.Path) -> pathlib.Path:
            path = folder / expanded(name)
            if size := packed_bytes(name, folder):
                packed[path] = size
            return path

        files = self._files(expanded(tmp_dir) / self.folder, resolve)
        if not packed:
            return RawSpace()
        train = [path for part in files.get("train", ()) for path in part]
        text = sum(packed.get(path) or text_size(path) for path in train)
        return RawSpace(unpacked=sum(packed.values()), text=text)

    def _files(
        self,
        folder: pathlib.Path,
        resolve: Callable[[str, pathlib.Path], pathlib.Path] = as_file,
    ) -> dict[str, Parts]:
        listed = folder / self.file_list
        if self.file_list and listed.is_file():
            return read_file_list(listed, resolve)
        return {split: self._parts(folder, split) for split in SPLITS}

    def _parts(self, folder: pathlib.Path, split: str) -> Parts:
        source, target = self.languages
        parts: dict[str, list[pathlib.Path]] = {}
        for suffix in ("", ".gz", ".sgm"):
            ending = f".{source}{suffix}"
            for path in sorted(folder.glob(f"{split}*{ending}")):
                stem = path.name.removesuffix(ending)
                if stem == split or stem.startswith(f"{split}."):
                    if stem in parts:
                        raise UserError(f"{parts[stem][0]} and {path}: only one of them may exist")
                    parts[stem] = [path, *_targets(folder, f"{stem}.{target}", suffix)]
        return [parts[stem] for stem in sorted(parts)]


def read_file_list(
    path: pathlib.Path, resolve: Callable[[str, pathlib.Path], pathlib.Path] = as_file
) -> dict[str, Parts]:
    """Read `{"train": [["a.en", "a.de"], ...], "dev": [["dev.en", "dev.de.0", "dev.de.1"]]}`.

    Every part is a source file and its reference files, relative to the folder of the list, or
    sides of a collection, see `sources.collections`. With `"weights": [1, 4]`, the pairs of the
    second training part occur four times in each epoch.

    Args:
        path: the list.
        resolve: returns the path of a text, given its name and the folder of the list.

    Raises:
        UserError: the file does not have this form.
    """
    content: Any = parse_json("\n".join(read_text(str(path))), str(path))
    keys = (*SPLITS, WEIGHTS)
    if not isinstance(content, dict):
        raise UserError(f"{path} must be an object with the keys {', '.join(keys)}")
    for key in content:
        if key not in keys:
            raise UserError(f"{path}: key {shown(key)} is unknown; known: {', '.join(keys)}")
    weights = content.pop(WEIGHTS, None)
    for split, parts in content.items():
        if not isinstance(parts, list) or not all(_is_part(part) for part in parts):
            raise UserError(f'{path}: {split!r} must be a list of parts such as ["a.en", "a.de"]')
        for name in itertools.chain.from_iterable(parts):
            if "\0" in name or any(len(n.encode()) > _LONGEST_NAME for n in name.split("/")):
                raise UserError(f"{path}: {split!r}: {shown(name)} cannot be the name of a file")
    parts = {
        split: [[resolve(name, path.parent) for name in part] for part in content[split]]
        for split in SPLITS
        if split in content
    }
    if weights is not None:
        count = len(parts.get("train", ()))
        if (
            not isinstance(weights, list)
            or len(weights) != count
            or not all(type(weight) is int and 1 <= weight <= MOST_WEIGHT for weight in weights)
        ):
            raise UserError(
                f"{path}: {WEIGHTS!r} must be a list of {count} integers from 1 to {MOST_WEIGHT}, "
                "one for each training part"
            )
        weighted = zip(parts.get("train", ()), weights, strict=True)
        parts["train"] = [part for part, weight in weighted for _ in range(weight)]
    return parts


def _require_files(listed: pathlib.Path, files: dict[str, Parts]) -> None:
    # Parts with a weight are listed several times.
    paths = dict.fromkeys(path for parts in files.values() for part in parts for path in part)
    missing = ", ".join(str(path) for path in paths if not path.is_file())
    if missing and listed.is_file():
        raise UserError(f"{listed} lists files that do not exist: {missing}")
    if missing:
        raise UserError(f"no files, or links to files that do not exist: {missing}")


class _CheckedCorpus(TextCorpus):
    """Text files whose dev and test sets must have a given number of references."""

    def __init__(
        self,
        files: dict[str, Parts],
        features: Sequence[Feature],
        *,
        name: str,
        references: int,
        languages: tuple[str, str],
        listing: pathlib.Path | None,
    ) -> None:
        super().__init__(files, features)
        self._name = name
        self._references = references
        self._features = features
        self._languages = languages
        self._listing = listing

    def notes(self) -> Iterator[str]:
        """Yield a sentence for each file that seems to belong to the corpus but is not read."""
        read = {path for _, path in self.names()}
        texts = [path for parts in self._files.values() for part in parts for path in part]
        beginnings = {*SPLITS, *(text.name.removesuffix(".gz") for text in texts)}
        streams = {feature.stream for feature in self._features}
        names = sorted(
            {
                f"{part[text_column(feature.file_side)].name.removesuffix('.gz')}.{feature.stream}"
                for parts in self._files.values()
                for part in parts
                for feature in self._features
            }
        )
        for folder in sorted({text.parent for text in texts}):
            for path in sorted(folder.iterdir()):
                belongs = any(path.name.startswith(f"{begin}.") for begin in beginnings)
                belongs = belongs or self._is_named_like_text(path)
                if belongs and path.is_file() and path not in read:
                    ending = path.name.removesuffix(".gz").rpartition(".")[2]
                    meant = names if nearest(ending, streams) else []
                    yield f"{path} is not read{nearest(path.name, meant, 1)}"
        if self._listing is not None and not self._listing.exists():
            for path in sorted(self._listing.parent.glob("*.json")):
                # Datagen's own files, if the data are in the same folder.
                own = tuple(f"{self._listing.stem}-{ending}" for ending in ("manifest", "task-"))
                if not path.stem.startswith(own) and nearest(path.stem, [self._listing.stem], 1):
                    yield f"{path} is not read{nearest(path.name, [self._listing.name], 1)}"

    def _is_named_like_text(self, path: pathlib.Path) -> bool:
        """Return whether a name begins with that of a split and ends in a language."""
        stem = path.name.removesuffix(".gz").removesuffix(".sgm")
        return stem.startswith(SPLITS) and stem.rpartition(".")[2] in self._languages

    def pairs(self, split: str) -> Iterator[Pair]:
        for pair in super().pairs(split):
            found = len(pair.texts) - 1
            if split != "train" and self._references not in (0, found):
                raise UserError(
                    f"{self._name}: {pair.names[1]} has {found} references instead of "
                    f"{self._references}"
                )
            yield pair


def _targets(folder: pathlib.Path, name: str, suffix: str) -> Sequence[pathlib.Path]:
    # One side may be compressed and the other not.
    for ending in dict.fromkeys((suffix, *(("", ".gz") if suffix != ".sgm" else ()))):
        if (single := folder / f"{name}{ending}").is_file():
            return [single]
        # At most ten, so that names are sorted like numbers.
        if numbered := sorted(folder.glob(f"{glob.escape(name)}.[0-9]{ending}")):
            return numbered
    raise UserError(f"{folder / name}{suffix} is missing, and so is {name}.0{suffix}")


def _is_part(part: object) -> bool:
    return isinstance(part, list) and len(part) > 1 and all(isinstance(n, str) for n in part)
