"""Problems whose parallel text files have an address and a checksum."""

from __future__ import annotations

import pathlib
from typing import ClassVar

from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus, TextCorpus
from t2t_phrase.data.sources.download import fetch
from t2t_phrase.data.sources.tree_files import find_trees
from t2t_phrase.files import sha256_of


class DownloadedProblem(Problem):
    """A problem of plain or gzipped text files, taken from `tmp_dir` or downloaded to it.

    Constituency trees of the source files may lie beside them in `tmp_dir`: those of `train.en.gz`
    as `train.en.trees`, or gzipped.
    """

    url: ClassVar[str]  # folder the files are in
    files: ClassVar[dict[str, tuple[str, str]]]  # source and target file of each split
    sha256: ClassVar[dict[str, str]]  # checksum of each file

    def corpus(self, tmp_dir: str) -> Corpus:
        """Return the files as a corpus, after downloading those that are missing.

        Raises:
            UserError: a file cannot be had or has another checksum.
        """
        folder = pathlib.Path(tmp_dir).expanduser()
        return TextCorpus(
            {
                split: [[fetch(f"{self.url}/{n}", folder, sha256=self.sha256[n]) for n in names]]
                for split, names in self.files.items()
            }
        )

    def inputs_at_hand(self, tmp_dir: str) -> dict[str, str]:
        """Return checksums of the trees that lie in `tmp_dir`."""
        folder = pathlib.Path(tmp_dir).expanduser()
        files = {split: [[folder / name for name in names]] for split, names in self.files.items()}
        return {path.name: sha256_of(path) for path in find_trees(files).values()}
