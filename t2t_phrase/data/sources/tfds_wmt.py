"""WMT corpora by the builders of tensorflow-datasets, without a whole corpus in memory."""

from __future__ import annotations

import errno
import itertools
import pathlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download.checksums import get_all_url_infos
from tensorflow_datasets.core.download.download_manager import NonMatchingChecksumError
from tensorflow_datasets.core.download.extractor import ExtractError
from tensorflow_datasets.translate import wmt

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.corpus import SPLITS, Corpus, Pair, parallel_lines
from t2t_phrase.data.sources.download import DownloadError, fetch
from t2t_phrase.data.sources.inputs import Inputs, subset_inputs
from t2t_phrase.io.files import disk_full, expanded, explain_os_error

# What tensorflow-datasets raises for archives that it cannot download, unpack or read.
_FAILURES = (
    AssertionError,
    EOFError,
    ExtractError,
    OSError,
    ValueError,
    tf.errors.OpError,
    tfds.download.DownloadError,
    zlib.error,
)
_SPLIT_NAMES = {"train": "train", "dev": "validation", "test": "test"}


class WmtPairs(wmt.WmtTranslate):
    """tensorflow-datasets' WMT builder, extended by the origin of each pair.

    Parallel text files, the largest ones, are read line by line, other formats by the base class.
    """

    # The download manager knows the checksums of all WMT archives. The base class would look for
    # more of them beside this file, with a package that tensorflow-datasets does not declare.
    url_infos = None

    def _split_generators(self, dl_manager: Any) -> Any:
        # tensorflow-datasets would start from the beginning after an interruption. It finds what
        # is in the folder for archives that were downloaded by hand.
        known = self.url_infos or get_all_url_infos()
        sums: dict[str | None, set[str]] = {}
        for info in known.values():
            sums.setdefault(info.filename, set()).add(info.checksum)
        foreign = self.builder_config.language_pair[0]
        subsets = itertools.chain.from_iterable(self.builder_config.subsets.values())
        folder = pathlib.Path(dl_manager.manual_dir)
        for url in [url for name in subsets for url in wmt.DATASET_MAP[name].get_url(foreign)]:
            info = known.get(url)
            # Different archives of one name cannot share the folder.
            if info is None or not info.filename or len(sums[info.filename]) > 1:
                continue
            if not (folder / info.filename).exists():
                fetch(url, folder, sha256=info.checksum, name=info.filename)
        return super()._split_generators(dl_manager)

    def _info(self) -> tfds.core.DatasetInfo:
        source, target = self.builder_config.language_pair
        return tfds.core.DatasetInfo(
            builder=self,
            description="Sentence pairs of WMT with the subset and line they come from.",
            features=tfds.features.FeaturesDict(
                {
                    source: tfds.features.Text(),
                    target: tfds.features.Text(),
                    "subset": tfds.features.Text(),
                    "line": tfds.features.Scalar(np.int64),
                }
            ),
        )

    def _generate_examples(
        self, split_subsets: Sequence[str], extraction_map: Mapping[str, Any]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        source, target = self.builder_config.language_pair
        for subset in split_subsets:
            files = self._text_files(subset, extraction_map)
            if files:
                for pair in parallel_lines(files):
                    if None not in pair.texts:
                        example = dict(zip((source, target), pair.texts, strict=True))
                        yield f"{subset}/{pair.line}", _placed(example, subset, pair.line)
            else:
                for key, example in super()._generate_examples([subset], extraction_map):
                    # The base class counts lines from 0, at the end of its keys.
                    line = int(key.rsplit("/", 1)[1]) + 1
                    yield key, _placed(example, subset, line)

    def _text_files(self, subset: str, extraction_map: Mapping[str, Any]) -> list[pathlib.Path]:
        """Return the two files of a subset of parallel text; none if it has another format."""
        names = wmt.DATASET_MAP[subset].get_path(self.builder_config.language_pair[0])
        folders = list(extraction_map[subset])
        if len(names) != 2 or any(name.endswith(".sgm") or "*" in name for name in names):
            return []
        folders = folders * 2 if len(folders) == 1 else folders
        return [
            pathlib.Path(folder, name) if name else pathlib.Path(folder)
            for folder, name in zip(folders, names, strict=True)
        ]


class WmtCorpus(Corpus):
    """Downloads and prepares the subsets, then reads them.

    Args:
        name: names the prepared dataset.
        languages: source and target; one of them is the "en" of tensorflow-datasets' pairs.
        subsets: names of subsets for train, dev and test.
        tmp_dir: downloads and prepared data go there; archives found there are not downloaded.

    Raises:
        UserError: a download fails or has another checksum, or its files do not fit together.
    """

    def __init__(
        self,
        *,
        name: str,
        languages: tuple[str, str],
        subsets: Mapping[str, Sequence[str]],
        tmp_dir: str,
    ) -> None:
        self._name = name
        self._languages = languages
        self._subsets = subsets
        folder = expanded(tmp_dir)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise explain_os_error(error, folder) from error
        foreign = languages[0] if languages[1] == "en" else languages[1]
        config = wmt.WmtConfig(
            name=name,
            version="1.0.0",
            description=f"The subsets of {name}.",
            language_pair=(foreign, "en"),
            subsets={_SPLIT_NAMES[split]: list(names) for split, names in subsets.items()},
        )
        self._builder = WmtPairs(config=config, data_dir=folder / "tensorflow_datasets")
        self._prepare(folder)

    def splits(self) -> tuple[str, ...]:
        """Return the splits that have subsets."""
        return tuple(split for split in SPLITS if split in self._subsets)

    def inputs(self) -> Inputs:
        """Return the subsets of each split: their archives are checked by tensorflow-datasets."""
        return subset_inputs(self._subsets)

    def pairs(self, split: str) -> Iterator[Pair]:
        """Yield the pairs; dev and test in the order of their files, train in a random one."""
        # One shard after the other, so that the order is always the same.
        config = tfds.ReadConfig(interleave_cycle_length=1, try_autocache=False)
        dataset = self._builder.as_dataset(split=_SPLIT_NAMES[split], read_config=config)
        pairs = self._read(dataset)
        if split == "train":
            return pairs
        order = {name: place for place, name in enumerate(self._subsets[split])}
        return iter(sorted(pairs, key=lambda pair: (order[pair.names[0]], pair.line)))

    def _read(self, dataset: tf.data.Dataset) -> Iterator[Pair]:
        try:
            yield from map(self._pair, tfds.as_numpy(dataset))
        except tf.errors.OpError as error:
            folder = self._builder.data_path
            raise UserError(
                f"{self._name}: the files in {folder} are damaged; delete that folder and run the "
                "same command again"
            ) from error

    def _pair(self, example: Mapping[str, Any]) -> Pair:
        texts = tuple(example[language].decode("utf-8") for language in self._languages)
        subset = example["subset"].decode()
        return Pair(texts, (subset, subset), int(example["line"]))

    def _prepare(self, folder: pathlib.Path) -> None:
        config = tfds.download.DownloadConfig(
            manual_dir=folder, force_checksums_validation=True, try_download_gcs=False
        )
        try:
            self._builder.download_and_prepare(
                download_dir=folder / "downloads", download_config=config
            )
        except UserError:
            raise
        except NonMatchingChecksumError as error:
            raise UserError(f"{self._name}: {error}") from error
        except tf.errors.ResourceExhaustedError as error:
            raise disk_full(folder / "tensorflow_datasets") from error
        except _FAILURES as error:
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise explain_os_error(error, folder / "tensorflow_datasets") from error
            raise DownloadError(
                f"{self._name}: tensorflow-datasets could not prepare it ({error}); archives that "
                f"cannot be downloaded can be put into {folder} by hand, under their original "
                "names; one that is damaged must be deleted there"
            ) from error


def _placed(example: Mapping[str, str], subset: str, line: int) -> dict[str, Any]:
    return {**example, "subset": subset, "line": line}
