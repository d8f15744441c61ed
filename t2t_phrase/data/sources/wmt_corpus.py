"""Sentence pairs of WMT corpora, read where they were unpacked; nothing is held in memory."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence

from t2t_phrase.config import UserError
from t2t_phrase.data.sources.corpus import SPLITS, Corpus, Pair, some_of_parts
from t2t_phrase.data.sources.inputs import Inputs, subset_inputs
from t2t_phrase.data.sources.text_size import text_size


@dataclasses.dataclass(frozen=True)
class Subset:
    """A subset of tensorflow-datasets that is on disk.

    Attributes:
        name: its name.
        places: where its archives are unpacked.
        files: its two files of parallel text, English last; none if it has another format.
    """

    name: str
    places: tuple[str, ...]
    files: tuple[pathlib.Path, ...]


class WmtCorpus(Corpus):
    """The subsets of each split, one after the other.

    Files of parallel text, which are the largest, are read line by line; other formats, such as
    SGML and TMX, are read by tensorflow-datasets.

    Args:
        languages: source and target; one of them is English.
        subsets: the subsets of each split.
    """

    skips = True

    def __init__(
        self, *, languages: tuple[str, str], subsets: Mapping[str, Sequence[Subset]]
    ) -> None:
        self._languages = languages
        self._subsets = subsets
        self._foreign = languages[0] if languages[1] == "en" else languages[1]

    def splits(self) -> tuple[str, ...]:
        """Return the splits that have subsets."""
        return tuple(split for split in SPLITS if split in self._subsets)

    def inputs(self) -> Inputs:
        """Return the names of the subsets of each split, whose archives have known checksums."""
        return subset_inputs({k: [s.name for s in found] for k, found in self._subsets.items()})

    def text_bytes(self, split: str) -> int:
        """Return the approximate size of the split's texts in bytes."""
        return sum(
            text_size(path)
            for subset in self._subsets.get(split, ())
            for path in subset.files or map(pathlib.Path, subset.places)
            if path.is_file()
        )

    def pairs(self, split: str) -> Iterator[Pair]:
        """Yield the pairs of the subsets in order.

        Raises:
            UserError: a file is damaged, or the two files of a subset differ in length.
        """
        return (pair for _, pair in self.some(split, lambda index: True))

    def some(self, split: str, wanted: Callable[[int], bool]) -> Iterator[tuple[int, Pair]]:
        """Yield the wanted pairs; the lines of others are not decoded.

        Raises:
            UserError: as for `pairs`.
        """
        begun = 0
        for subset in self._subsets[split]:
            count = 0

            def noted(index: int, begun: int = begun) -> bool:
                nonlocal count
                count = index + 1
                return wanted(begun + index)

            read = self._lines(subset, noted) if subset.files else self._others(subset, noted)
            for index, texts, line in read:
                yield begun + index, Pair(texts, (subset.name,) * 2, line)
            begun += count

    def _lines(
        self, subset: Subset, wanted: Callable[[int], bool]
    ) -> Iterator[tuple[int, tuple[str | None, ...], int]]:
        step = 1 if self._languages[0] == self._foreign else -1
        for index, pair in some_of_parts([subset.files], wanted):
            yield index, pair.texts[::step], pair.line

    def _others(
        self, subset: Subset, wanted: Callable[[int], bool]
    ) -> Iterator[tuple[int, tuple[str | None, ...], int]]:
        # tensorflow-datasets takes seconds to import.
        from t2t_phrase.data.sources.wmt_archives import read_subset

        found = read_subset(subset.name, subset.places, self._foreign)
        try:
            for index, (line, example) in enumerate(found):
                if wanted(index):
                    yield index, tuple(example[name] for name in self._languages), line
        except (AssertionError, KeyError, OSError, SyntaxError, ValueError) as error:
            if isinstance(error, UserError):
                raise
            raise UserError(
                f"{subset.name}: tensorflow-datasets cannot read {', '.join(subset.places)} "
                f"({error}); delete it and the archive that it comes from"
            ) from error
