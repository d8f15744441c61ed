"""Reduction of word links to exactly one source word for each target word."""

from __future__ import annotations

from collections.abc import Iterable

from t2t_phrase.text.alignments.pharaoh import Link


def source_word_of_each(links: Iterable[Link], target_words: int) -> list[int] | None:
    """Return the number of the source word that each target word is aligned with.

    If a word has several links, the middle one counts, in the order of the source words; of an even
    number, the lower of the two in the middle. A word without links takes the source word of the
    nearest word with links, of the left one if two are equally near.

    Args:
        links: the links of a sentence pair.
        target_words: number of words of the target.

    Returns:
        One number for each target word; None if no word has links.
    """
    linked: dict[int, list[int]] = {}
    for i, j in sorted(links):
        linked.setdefault(j, []).append(i)
    if not linked:
        return None
    middle = {j: sources[(len(sources) - 1) // 2] for j, sources in linked.items()}
    # For each word, the nearest word with links to its left; then the one to its right if nearer.
    nearest: list[int | None] = []
    for j in range(target_words):
        nearest.append(j if j in middle else nearest[-1] if nearest else None)
    right: int | None = None
    for j in reversed(range(target_words)):
        right = j if j in middle else right
        left = nearest[j]
        if left is None or (right is not None and right - j < j - left):
            nearest[j] = right
    return [middle[j] for j in nearest if j is not None]
