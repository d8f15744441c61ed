"""A translation, and the facts known about it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.text.alignments.pharaoh import Link, write_links
from t2t_phrase.text.dictionaries.unknown_words import UnknownWords


@dataclasses.dataclass(frozen=True)
class Hypothesis:
    """A translation and its score.

    Attributes:
        text: one line without tabs, whatever bytes the model produced.
        score: see `Hypotheses.scores`; 0 for the empty translation of an empty line. Greedy search
            and sampling give the plain log-probability.
        tokens: number of tokens, EOS included.
        links: between source and target words, with `write_alignments`.
        entries: number of dictionary entries that were applied.
        unknown: with `replace_unknown`, the numbers of unknown words of `text` by how they were
            replaced.
        positions: with an alignment model, the number of source positions that were evaluated,
            summed over the tokens.
        missing: required entries of a dictionary for which there was no room.
        cut: whether the translation was cut at its maximum length, and so does not end in EOS.
        source_cut: whether the source was cut to `max_input_size`.
        pieces: with `token_probabilities`, the tokens as the vocabulary spells them.
        log_probabilities: with `token_probabilities`, the log-probability of each token, in nats;
            with an alignment model, it includes that of the token's source position.
        expected_chrf: with `mbr`, the mean chrF of the text with every sample as its reference.
        ids: of the tokens.
        aligned: the source position of each token, where the search notes it.
    """

    text: str
    score: float
    tokens: int = 0
    links: tuple[Link, ...] = ()
    entries: int = 0
    positions: int = 0
    unknown: UnknownWords = dataclasses.field(default_factory=UnknownWords)
    missing: tuple[str, ...] = ()
    cut: bool = False
    source_cut: bool = False
    pieces: tuple[str, ...] = ()
    log_probabilities: tuple[float, ...] = ()
    expected_chrf: float | None = None
    ids: tuple[int, ...] = ()
    aligned: tuple[int, ...] = ()

    @property
    def confidence(self) -> float | None:
        """The geometric mean of the tokens' probabilities; None without `token_probabilities`."""
        if not self.log_probabilities:
            return None
        return math.exp(math.fsum(self.log_probabilities) / len(self.log_probabilities))


# The translation of a line without words.
NOTHING = Hypothesis("", 0.0)


def format_links(hypotheses: Sequence[Hypothesis]) -> str:
    """Return one line: the links of each hypothesis in Pharaoh format, tab-separated."""
    return "\t".join(write_links(hypothesis.links) for hypothesis in hypotheses)


def format_hypotheses(hypotheses: Sequence[Hypothesis], hparams: DecodeHParams) -> str:
    """Return one line: the texts, best first, each with its score if wanted, tab-separated."""
    fields = []
    for hypothesis in hypotheses:
        fields.append(hypothesis.text)
        if hparams.write_scores:
            fields.append(f"{hypothesis.score:.4f}")
    return "\t".join(fields)
