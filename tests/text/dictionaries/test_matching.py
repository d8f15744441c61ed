"""Where the phrases of a dictionary occur."""

import time

import pytest

from t2t_phrase.text.dictionaries.matching import Phrases, find_matches
from t2t_phrase.text.dictionaries.reader import Entry


def entries(*sources: str) -> Phrases:
    return Phrases(Entry(source, source.upper()) for source in sources)


def found(text: str, *sources: str) -> list[tuple[int, int, str]]:
    matches = find_matches(text.split(), entries(*sources))
    return [(match.start, match.end, match.entry.source) for match in matches]


@pytest.mark.parametrize(
    ("text", "sources", "expected"),
    [
        ("the old house", ["house", "old"], [(1, 2, "old"), (2, 3, "house")]),
        ("house, house (house)", ["house"], [(i, i + 1, "house") for i in range(3)]),
        ("well-known houses House", ["known", "well", "house", "s"], []),
        ("C++ and C, C# 5% of", ["C", "5"], [(2, 3, "C")]),
        ("C++ (C++).", ["C++"], [(0, 1, "C++"), (1, 2, "C++")]),
        ("Mr. Mr.", ["Mr", "Mr."], [(0, 1, "Mr."), (1, 2, "Mr.")]),
        ("don't the", ["t", "don", "the"], [(1, 2, "the")]),
        ('a "credit card"! credit, card', ["credit card"], [(1, 3, "credit card")]),
        # Longer phrases come first, then those further left.
        ("a b c d", ["a b", "b c d", "d"], [(1, 4, "b c d")]),
        ("a b c", ["a b", "b c", "c"], [(0, 2, "a b"), (2, 3, "c")]),
        ("a a a", ["a a"], [(0, 2, "a a")]),
        ("... !", ["...", "!"], [(0, 1, "..."), (1, 2, "!")]),
        ("a b", ["a b c", "b c"], []),
        ("", ["a"], []),
    ],
)
def test_phrases_occur_where_their_words_do(
    text: str, sources: list[str], expected: list[tuple[int, int, str]]
) -> None:
    assert found(text, *sources) == expected


def test_what_stands_around_a_phrase_is_counted() -> None:
    (match,) = find_matches(['"(old', "house)."], entries("old house"))
    assert (match.skipped, match.left) == (2, 2)
    (match,) = find_matches(["((old)"], entries("old"))
    assert (match.skipped, match.left) == (2, 1)


def test_the_first_dictionary_comes_first() -> None:
    own = Phrases([Entry("a", "own")])
    general = Phrases([Entry("a", "general"), Entry("b", "too"), Entry("a b", "longer")])
    assert [m.entry.target for m in find_matches(["a"], own, general)] == ["own"]
    assert [m.entry.target for m in find_matches(["b", "a"], own, general)] == ["too", "own"]
    assert [m.entry.target for m in find_matches(["a", "b"], own, general)] == ["longer"]


def test_long_lines_of_punctuation_take_no_time() -> None:
    begin = time.process_time()
    assert found("(" * 10**5 + "a", "a", "( a") == []
    assert found("a " * 10**4, "a a a")[-1] == (9996, 9999, "a a a")
    assert time.process_time() - begin < 5
