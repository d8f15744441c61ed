"""Translations of the development set for a page: the best, the worst and those in the middle."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from t2t_phrase.evaluation.sentence_scores import sentence_chrf

BEST, MEDIAN, WORST = 7, 6, 7


@dataclasses.dataclass(frozen=True)
class Example:
    """One translation.

    Attributes:
        group: "best", "median" or "worst".
        line: number of the sentence, from 1.
        source, translation: the texts.
        references: all references of the sentence.
        chrf: of the sentence, in per cent.
    """

    group: str
    line: int
    source: str
    translation: str
    references: tuple[str, ...]
    chrf: float


def choose_examples(
    sources: Sequence[str], translations: Sequence[str], references: Sequence[Sequence[str]]
) -> list[Example]:
    """Return twenty translations by chrF, or all if there are fewer.

    They are ordered from the best to the worst; equal ones stay in the order of the lines.

    Args:
        sources: the sentences.
        translations: one for each sentence.
        references: one list or several.

    Raises:
        UserError: the lists have different lengths, or there are no sentences.
    """
    scores = sentence_chrf(translations, references)
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    return [
        Example(
            group,
            at + 1,
            sources[at],
            translations[at],
            tuple(column[at] for column in references),
            scores[at],
        )
        for group, place in chosen_places(len(order))
        for at in [order[place]]
    ]


def chosen_places(count: int) -> list[tuple[str, int]]:
    """Return group and place of the examples among `count` sentences in the order of their score.

    Of few sentences, a third (rounded down) are best and as many worst; the rest are median.
    """
    if count > BEST + MEDIAN + WORST:
        best, median, worst = BEST, MEDIAN, WORST
    else:
        best = worst = count // 3
        median = count - best - worst
    first = (count - median + 1) // 2
    groups = (
        ("best", range(best)),
        ("median", range(first, first + median)),
        ("worst", range(count - worst, count)),
    )
    return [(group, place) for group, places in groups for place in places]
