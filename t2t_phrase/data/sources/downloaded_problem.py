"""Problems of parallel text files with known addresses and checksums."""

from __future__ import annotations

import pathlib
from typing import ClassVar

from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus, TextCorpus
from t2t_phrase.data.sources.download import fetch
from t2t_phrase.data.sources.side_files import SideFiles, find_side_files
from t2t_phrase.files import sha256_of


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
        folder = pathlib.Path(tmp_dir).expanduser()
        return TextCorpus(
            {
                split: [[fetch(f"{self.url}/{n}", folder, sha256=self.sha256[n]) for n in names]]
                for split, names in self.files.items()
            },
            self.features,
        )

    def inputs_at_hand(self, tmp_dir: str) -> dict[str, str]:
        """Return checksums of the side files in `tmp_dir`."""
        found = self._side_files(tmp_dir).values()
        return {path.name: sha256_of(path) for paths in found for path in paths.values()}

    def streams_at_hand(self, tmp_dir: str) -> tuple[str, ...]:
        """Return the streams of the side files in `tmp_dir`."""
        return tuple(self._side_files(tmp_dir))

    def _side_files(self, tmp_dir: str) -> SideFiles:
        folder = pathlib.Path(tmp_dir).expanduser()
        files = {split: [[folder / name for name in names]] for split, names in self.files.items()}
        return find_side_files(files, self.features)
