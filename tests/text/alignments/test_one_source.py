"""Exactly one source word for each target word, against the rules written as a search."""

import itertools

import pytest

from t2t_phrase.text.alignments.one_source import source_word_of_each


def by_search(links, words):
    """Look at every other word for each word; the key says which is nearest."""
    found = []
    for j in range(words):
        for _, near in sorted((abs(k - j), k) for k in range(words)):
            sources = sorted(i for i, k in links if k == near)
            if sources:
                found.append(sources[(len(sources) - 1) // 2])
                break
    return found or None


@pytest.mark.parametrize(
    ("links", "words", "expected"),
    [
        ([], 3, None),
        ([], 0, None),
        ([(4, 1)], 3, [4, 4, 4]),
        # Three links: the middle one; two and four: the lower of the two in the middle.
        ([(7, 0), (1, 0), (3, 0), (5, 1), (2, 1), *((i, 2) for i in (9, 6, 8, 1))], 3, [3, 2, 6]),
        # Words 1 and 2 have a nearest neighbour; word 3 is between two, and takes the left one.
        ([(5, 0), (9, 6)], 7, [5, 5, 5, 5, 9, 9, 9]),
    ],
)
def test_rules(links, words, expected):
    assert source_word_of_each(links, words) == expected == by_search(links, words)


def test_all_sets_of_links_of_a_small_sentence():
    every = list(itertools.product(range(2), range(4)))
    for chosen in itertools.product((False, True), repeat=len(every)):
        links = list(itertools.compress(every, chosen))
        assert source_word_of_each(reversed(links), 4) == by_search(links, 4)
