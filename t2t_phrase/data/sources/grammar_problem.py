"""Problems drawn from the built-in grammar."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from t2t_phrase import grammar
from t2t_phrase.data.problem import Problem
from t2t_phrase.data.sources.corpus import SPLITS, Corpus, Pair
from t2t_phrase.data.sources.inputs import Inputs
from t2t_phrase.features import ALIGNMENT, TREES
from t2t_phrase.text.alignments.pharaoh import read_links, write_links
from t2t_phrase.text.alignments.words_of_tokens import links_of_words


class GrammarProblem(Problem):
    """A problem whose corpus is generated: nothing is downloaded.

    Next to the text of each split are side files with one line per sentence pair: `.align` with
    word alignments in Pharaoh format and `.trees` with English constituency trees, both over the
    tokens of `grammar.tokenize`; `.facts` with the choices that the grammar made, in JSON; and
    `.target.align` with the alignments over the words between blanks, for models.
    """

    sizes: ClassVar[dict[str, int]]  # sentence pairs of each split
    seed: ClassVar[int] = 0

    def corpus(self, tmp_dir: str) -> Corpus:
        """Return the corpus; `tmp_dir` is not used."""
        del tmp_dir
        return _GrammarCorpus(self.sizes, self.seed)

    def inputs_at_hand(self, tmp_dir: str) -> Inputs:
        """Return a checksum of the grammar, and the sizes."""
        return self.corpus(tmp_dir).inputs()


_STREAMS = ("align", TREES, "facts", ALIGNMENT.side_stream)


class _GrammarCorpus(Corpus):
    def __init__(self, sizes: Mapping[str, int], seed: int) -> None:
        self._sizes = sizes
        self._seed = seed

    def splits(self) -> tuple[str, ...]:
        return SPLITS

    def inputs(self) -> Inputs:
        sizes = "+".join(str(self._sizes[split]) for split in SPLITS)
        checksums = {"grammar": grammar.digest(), "sizes": sizes, "seed": str(self._seed)}
        return Inputs(checksums, side=dict.fromkeys(_STREAMS, ()))

    def side_streams(self) -> tuple[str, ...]:
        return _STREAMS

    def pairs(self, split: str) -> Iterator[Pair]:
        drawn = grammar.generate(split, self._sizes[split], seed=self._seed)
        for number, pair in enumerate(drawn, start=1):
            facts = json.dumps(pair.facts, default=_fields, ensure_ascii=False)
            yield Pair(
                (pair.source, pair.target),
                ("grammar", "grammar"),
                number,
                (pair.alignment, pair.tree, facts, _alignment_of_words(pair)),
                ("grammar",) * len(_STREAMS),
            )


def _fields(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, without the copies of `dataclasses.asdict`."""
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}


def _alignment_of_words(pair: grammar.SentencePair) -> str:
    source = pair.source_tokens, pair.source.split()
    target = pair.target_tokens, pair.target.split()
    return write_links(links_of_words(read_links(pair.alignment).sure, source, target))
