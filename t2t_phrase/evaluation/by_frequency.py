"""F1 of words by their frequency in the training text, as in compare-mt.

Neubig et al. (2019), "compare-mt: A Tool for Holistic Comparison of Language Generation Systems".
"""

from __future__ import annotations

import bisect
import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from sacrebleu.metrics import BLEU

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.scores import check_lengths, forget_sentences, make_bleu

# As in compare-mt.
BOUNDARIES = (1, 2, 3, 4, 5, 10, 100, 1000)


@dataclasses.dataclass(frozen=True)
class FrequencyGroup:
    """The words whose number of occurrences in the training text is in a range.

    Attributes:
        low, high: `low` <= occurrences < `high`; None: no upper limit.
        translated: number of words of the translations.
        references: number of words of the references.
        right: number of words of the translations that also occur in their reference, each counted
            at most as often as there.
    """

    low: int
    high: int | None
    translated: int
    references: int
    right: int

    @property
    def name(self) -> str:
        """The range of occurrences."""
        if self.high is None:
            return f"{self.low} and more"
        return str(self.low) if self.high == self.low + 1 else f"{self.low} to {self.high - 1}"

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, in per cent; None if there are no such words."""
        words = self.translated + self.references
        return 200 * self.right / words if words else None


def word_counts(
    lines: Iterable[str], *, tokenize: str = "13a", lowercase: bool = False
) -> collections.Counter[str]:
    """Count the words of a text.

    Args:
        lines: lines of the training text, target side.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.

    Raises:
        UserError: as for `make_bleu`.
    """
    scorer = make_bleu(tokenize=tokenize, lowercase=lowercase)
    counts: collections.Counter[str] = collections.Counter()
    try:
        for line in lines:
            counts.update(_words(scorer, line))
    finally:
        forget_sentences(scorer.tokenizer)
    return counts


def f1_by_frequency(
    hypotheses: Sequence[str],
    references: Sequence[str],
    counts: Mapping[str, int],
    *,
    boundaries: Sequence[int] = BOUNDARIES,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> list[FrequencyGroup]:
    """Count the right words of translations for each range of frequencies.

    Args:
        hypotheses: one translation for each sentence.
        references: one reference for each.
        counts: see `word_counts`, with the same tokenizer.
        boundaries: where one range ends and the next begins, ascending.
        tokenize: see `corpus_score`.
        lowercase: whether to ignore case.

    Raises:
        UserError: the lists differ in length, the boundaries are not ascending and positive, or as
            for `make_bleu`.

    Example:
        ```python
        from t2t_phrase.evaluation.by_frequency import f1_by_frequency, word_counts

        counts = word_counts(["the house is red", "the house is old", "the trees"])
        rare, frequent = f1_by_frequency(
            ["the house is old"], ["the tree is old"], counts, boundaries=[3]
        )
        f1_of_rare_words = rare.f1  # 66.67
        ```
    """
    if not boundaries or list(boundaries) != sorted(set(boundaries)) or boundaries[0] < 1:
        raise UserError(
            f"frequencies {','.join(map(str, boundaries))} must be ascending and positive, such as "
            "1,10,100"
        )
    check_lengths(hypotheses, [references])
    scorer = make_bleu(tokenize=tokenize, lowercase=lowercase)
    # For each group: words of the translations, of the references, right ones.
    sums = [[0, 0, 0] for _ in range(len(boundaries) + 1)]
    try:
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            own, wanted = (
                collections.Counter(_words(scorer, text)) for text in (hypothesis, reference)
            )
            for column, words in enumerate((own, wanted, own & wanted)):
                for word, number in words.items():
                    sums[bisect.bisect(boundaries, counts.get(word, 0))][column] += number
    finally:
        forget_sentences(scorer.tokenizer)
    ranges = zip((0, *boundaries), (*boundaries, None), sums, strict=True)
    return [FrequencyGroup(low, high, *own) for low, high, own in ranges]


def _words(scorer: BLEU, line: str) -> list[str]:
    """Return the words of a line as BLEU counts them."""
    return str(scorer.tokenizer((line.lower() if scorer.lowercase else line).rstrip())).split()
