"""A corpus in Moses tokens and lower case, as papers on Multi30k use it to train and score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from t2t_phrase.data.sources.corpus import Corpus, Pair
from t2t_phrase.data.sources.inputs import Inputs
from t2t_phrase.text.moses import MosesTokenizer


class MosesLowercased(Corpus):
    """The pairs of another corpus with normalised punctuation, tokenised and lowercased.

    Side lines, which describe the words of the text as it was, are left out.

    Args:
        corpus: the original text.
        languages: languages of source and references.

    Raises:
        UserError: the package sacremoses is missing.
    """

    def __init__(self, corpus: Corpus, languages: tuple[str, str]) -> None:
        self._corpus = corpus
        self._tokenizers = [MosesTokenizer(f"moses-{language}") for language in languages]

    def splits(self) -> tuple[str, ...]:
        """Return the splits of the corpus."""
        return self._corpus.splits()

    def inputs(self) -> Inputs:
        """Return the files of the corpus."""
        return self._corpus.inputs()

    def pairs(self, split: str) -> Iterator[Pair]:
        """Yield the pairs of the split.

        Raises:
            UserError: as for the corpus.
        """
        for pair in self._corpus.pairs(split):
            yield pair._replace(texts=self._processed(pair.texts), side=(), side_names=())

    def _processed(self, texts: Sequence[str | None]) -> tuple[str | None, ...]:
        source, target = self._tokenizers
        tokenizers = [source, *[target] * (len(texts) - 1)]
        return tuple(
            None if text is None else tokenizer(text).lower()
            for text, tokenizer in zip(texts, tokenizers, strict=True)
        )
