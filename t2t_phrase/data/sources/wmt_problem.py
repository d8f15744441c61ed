"""Problems made of the WMT corpora of tensorflow-datasets."""

from __future__ import annotations

from typing import ClassVar

from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import Corpus
from t2t_phrase.data.sources.inputs import Inputs, subset_inputs


class WmtProblem(Problem):
    """A problem of WMT corpora, downloaded and checked by tensorflow-datasets.

    Archives that are already in `tmp_dir`, under their original names, are not downloaded.
    """

    subsets: ClassVar[dict[str, tuple[str, ...]]]  # names in tensorflow-datasets, for each split
    num_shards = 100
    features = ()  # no side files can be put beside files in archives

    def corpus(self, tmp_dir: str) -> Corpus:
        """Download and prepare the subsets.

        Raises:
            UserError: a download fails, or its content is not as expected.
        """
        # tensorflow-datasets takes seconds to import.
        from t2t_phrase.data.sources.tfds_wmt import WmtCorpus

        return WmtCorpus(
            name=self.base_name, languages=self.languages, subsets=self.subsets, tmp_dir=tmp_dir
        )

    def inputs_at_hand(self, tmp_dir: str) -> Inputs:
        """Return the names of the subsets, whose content tensorflow-datasets checks."""
        del tmp_dir
        return subset_inputs(self.subsets)
