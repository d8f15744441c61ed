"""Translations of words, counted in aligned text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from t2t_phrase.config import UserError, shown
from t2t_phrase.word_aligner.symmetrization import Link


class Translation(NamedTuple):
    """A translation of a word.

    Attributes:
        source: the word; "" for a target word that is linked to no source word.
        target: its translation.
        probability: share of this translation among all translations of the word.
        times: how often the two are linked.
    """

    source: str
    target: str
    probability: float
    times: int


def count_translations(
    sources: Iterable[Sequence[str]],
    targets: Iterable[Sequence[str]],
    links: Iterable[Collection[Link]],
) -> list[Translation]:
    """Return the translations of all words, the most frequent ones of each word first.

    Koehn et al. (2003), Section 4.4: the probability of a target word is its relative frequency
    among the words that are linked to the source word. Words are taken as they are written.

    Args:
        sources: the words of each source.
        targets: the words of each target.
        links: of each pair.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for source, target, found in zip(sources, targets, links, strict=True):
        counts.update((source[i], target[j]) for i, j in found)
        linked = {j for _, j in found}
        counts.update(("", word) for j, word in enumerate(target) if j not in linked)
    totals: Counter[str] = Counter()
    for (source, _), count in counts.items():
        totals[source] += count
    return [
        Translation(source, target, count / totals[source], count)
        for (source, target), count in sorted(
            counts.items(), key=lambda item: (item[0][0], -item[1], item[0][1])
        )
    ]


def write_translation(entry: Translation) -> str:
    """Return a line: source, target, probability and count, separated by tabs."""
    return f"{entry.source}\t{entry.target}\t{entry.probability:.6g}\t{entry.times}"


def read_translations(lines: Iterable[str], name: str) -> list[Translation]:
    """Return the translations in the lines of a file.

    Args:
        lines: as `write_translation` returns them.
        name: of the file, for messages.

    Raises:
        UserError: a line is malformed, or there are no lines.
    """
    found = []
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        try:
            source, target, probability, count = fields
            entry = Translation(source, target, float(probability), int(count))
        except ValueError as error:
            raise UserError(
                f"{name}:{number}: {shown(line)} is not a lexicon entry; expected "
                "source<TAB>target<TAB>probability<TAB>count, as t2t-phrase-align --lexicon_file "
                "writes it"
            ) from error
        if not target or entry.times < 1:
            raise UserError(f"{name}:{number}: an entry needs a target and a count of at least 1")
        found.append(entry)
    if not found:
        raise UserError(f"{name}: the lexicon is empty")
    return found
