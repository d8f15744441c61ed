"""Problems of parallel text files with known addresses and checksums."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import ClassVar

from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus, TextCorpus
from t2t_phrase.data.sources.download import fetch
from t2t_phrase.data.sources.inputs import Inputs
from t2t_phrase.io.files import expanded


class DownloadedProblem(Problem):
    """A problem of plain or gzipped text files, taken from `tmp_dir` or downloaded to it.

    Side files of the problem's features, such as constituency trees, may lie beside them in
    `tmp_dir`: those of `train.en.gz` as `train.en.trees` or `train.en.trees.gz`.
    """

    url: ClassVar[str]  # address of the folder of the files
    files: ClassVar[dict[str, tuple[str, str]]]  # source and target file of each split
    sha256: ClassVar[dict[str, str]]  # checksum of each file

    def corpus(self, tmp_dir: str) -> Corpus:
        """Return the files as a corpus; those that are missing are downloaded.

        Raises:
            UserError: a file cannot be downloaded, or its checksum is wrong.
        """
        folder = expanded(tmp_dir)
        for names in self.files.values():
            for name in names:
                fetch(f"{self.url}/{name}", folder, sha256=self.sha256[name])
        return self._corpus(folder)

    def inputs_at_hand(self, tmp_dir: str) -> Inputs:
        """Return the files; those missing in `tmp_dir` have the checksums of their downloads."""
        corpus = self._corpus(expanded(tmp_dir))
        found = corpus.inputs()
        if not found.checksums:
            return found
        names = dict(corpus.names())
        declared = {
            name: self.sha256[names[name].name]
            for parts in found.parts.values()
            for part in parts
            for name in part
        }
        return dataclasses.replace(found, checksums={**declared, **found.checksums})

    def _corpus(self, folder: pathlib.Path) -> TextCorpus:
        files = {split: [[folder / name for name in names]] for split, names in self.files.items()}
        return TextCorpus(files, self.features)
