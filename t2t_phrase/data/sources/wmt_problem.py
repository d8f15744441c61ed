"""Problems with WMT corpora of tensorflow-datasets."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, ClassVar

from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus
from t2t_phrase.data.sources.inputs import Inputs, RawSpace, subset_inputs
from t2t_phrase.data.sources.wmt_corpus import Subset, WmtCorpus
from t2t_phrase.io.files import expanded, explain_os_error

if TYPE_CHECKING:
    from t2t_phrase.data.sources.wmt_archives import Archive


class WmtProblem(Problem):
    """A problem of WMT corpora, downloaded and verified by the records of tensorflow-datasets.

    Archives that are already in `tmp_dir`, under their original names, are not downloaded.
    """

    subsets: ClassVar[dict[str, tuple[str, ...]]]  # names in tensorflow-datasets, for each split
    num_shards = 100
    features = ()  # no side files can be put beside files in archives

    def corpus(self, tmp_dir: str) -> Corpus:
        """Download the archives of the subsets, and unpack the files that are read.

        Raises:
            UserError: a download fails, or its content is not as expected.
        """
        from t2t_phrase.data.sources.wmt_archives import places, text_files, unpack

        folder = expanded(tmp_dir)
        known = self._archives()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for archive in known:
                unpack(archive, folder)
        except OSError as error:
            raise explain_os_error(error, folder) from error
        found: dict[str, list[Subset]] = {}
        for split, names in self.subsets.items():
            for name in names:
                lie = places(name, self._foreign, folder, known)
                files = text_files(name, lie, self._foreign)
                found.setdefault(split, []).append(Subset(name, tuple(lie), files))
        return WmtCorpus(languages=self.languages, subsets=found)

    def inputs_at_hand(self, tmp_dir: str) -> Inputs:
        """Return the names of the subsets, whose archives have known checksums."""
        del tmp_dir
        return subset_inputs(self.subsets)

    def raw_space(self, tmp_dir: str) -> RawSpace:
        """Return the space that downloads and unpacking still need, by the archives' sizes."""
        from t2t_phrase.data.sources.wmt_archives import at_hand, is_unpacked

        folder = expanded(tmp_dir)
        packed = [a for a in self._archives() if not is_unpacked(a, folder)]
        return RawSpace(
            download=sum(a.size for a in packed if not at_hand(a, folder).is_file()),
            unpacked=sum(a.unpacked_bytes for a in packed),
            text=sum(a.text_bytes for a in packed),
        )

    @property
    def _foreign(self) -> str:
        return self.languages[0] if self.languages[1] == "en" else self.languages[1]

    def _archives(self) -> list[Archive]:
        from t2t_phrase.data.sources.wmt_archives import archives

        return archives(itertools.chain.from_iterable(self.subsets.values()), self._foreign)
