"""BLEU by the length of the source sentence."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Sequence

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.bleu import corpus_bleu
from t2t_phrase.evaluation.scores import Score, as_reference_lists, check_lengths
from t2t_phrase.io.line_counts import check_one_to_one, counted

# Xu et al. (2020), Figure 3.
BOUNDARIES = (15, 30, 45)


@dataclasses.dataclass(frozen=True)
class LengthGroup:
    """The sentences of a range of lengths.

    Attributes:
        low, high: length of the source in words, `low` <= length < `high`; None: no upper limit.
        sentences: number of sentences.
        score: their corpus BLEU; None if there are no sentences.
    """

    low: int
    high: int | None
    sentences: int
    score: Score | None

    @property
    def name(self) -> str:
        """The range in words."""
        if self.high is None:
            return f"{self.low} and more words"
        if self.high == 1:
            return "no words"
        if not self.low:
            return f"under {self.high} words"
        last = self.high - 1
        if self.low == last:
            return counted(last, "word")
        return f"{self.low} to {last} words"

    def __str__(self) -> str:
        return f"{self.name}, {counted(self.sentences, 'sentence')}: {self.score or 'no BLEU'}"


def bleu_by_length(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    sources: Sequence[str],
    *,
    boundaries: Sequence[int] = BOUNDARIES,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> list[LengthGroup]:
    """Compute the corpus BLEU of each range of source lengths.

    Lengths are counted in words separated by whitespace.

    Args:
        hypotheses: one translation for each sentence.
        references: see `corpus_score`.
        sources: the sentences that were translated.
        boundaries: where one range ends and the next begins, ascending.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.

    Raises:
        UserError: as for `corpus_score`, or if the boundaries are not ascending and positive.

    Example:
        ```python
        from t2t_phrase.evaluation.by_length import bleu_by_length

        sources = ["Das alte Haus ist rot.", "Bäume."]
        references = ["The old house is red.", "Trees."]
        hypotheses = ["The old house is red.", "Tree."]
        groups = bleu_by_length(hypotheses, references, sources, boundaries=[3])
        sentences = [group.sentences for group in groups]  # [1, 1]
        bleu_of_long_ones = groups[1].score.value  # 100.0
        ```
    """
    check_boundaries(boundaries)
    lists = as_reference_lists(references)
    check_lengths(hypotheses, lists)
    check_one_to_one("the translation", len(hypotheses), "the source", len(sources))
    members: list[list[int]] = [[] for _ in range(len(boundaries) + 1)]
    for at, source in enumerate(sources):
        members[bisect.bisect(boundaries, len(source.split()))].append(at)
    groups = []
    for own, low, high in zip(members, (0, *boundaries), (*boundaries, None), strict=True):
        score = None
        if own:
            score = corpus_bleu(
                [hypotheses[at] for at in own],
                [[column[at] for at in own] for column in lists],
                tokenize=tokenize,
                lowercase=lowercase,
            )
        groups.append(LengthGroup(low, high, len(own), score))
    return groups


def check_boundaries(boundaries: Sequence[int]) -> None:
    """Check the boundaries of ranges.

    Raises:
        UserError: the boundaries are not ascending and positive.
    """
    if not boundaries or list(boundaries) != sorted(set(boundaries)) or boundaries[0] < 1:
        raise UserError(
            f"lengths {','.join(map(str, boundaries))} must be ascending and positive, such as "
            "15,30,45"
        )
