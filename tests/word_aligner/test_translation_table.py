import collections

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.word_aligner.translation_table import (
    Translation,
    count_translations,
    read_translations,
    write_translation,
)

SOURCES = [["the", "house"], ["a", "house"], [], ["house", "x"]]
TARGETS = [["das", "Haus"], ["ein", "Haus", "da"], ["nichts"], ["Haus", "Heim"]]
LINKS = [{(0, 0), (1, 1)}, {(0, 0), (1, 1)}, set(), {(0, 0), (0, 1)}]


def test_counts_and_probabilities_equal_loops() -> None:
    expected = collections.Counter()
    for source, target, links in zip(SOURCES, TARGETS, LINKS, strict=True):
        for j, word in enumerate(target):
            partners = [source[i] for i in range(len(source)) if (i, j) in links] or [""]
            for partner in partners:
                expected[partner, word] += 1
    found = count_translations(SOURCES, TARGETS, LINKS)
    assert {(e.source, e.target): e.times for e in found} == expected
    for entry in found:
        total = sum(count for (source, _), count in expected.items() if source == entry.source)
        assert entry.probability == entry.times / total
    house = [entry.target for entry in found if entry.source == "house"]
    assert house == ["Haus", "Heim"]


def test_what_is_written_is_read() -> None:
    found = count_translations(SOURCES, TARGETS, LINKS)
    read = read_translations([write_translation(entry) for entry in found], "x")
    assert [entry._replace(probability=0) for entry in read] == [
        entry._replace(probability=0) for entry in found
    ]
    for before, after in zip(found, read, strict=True):
        assert after.probability == pytest.approx(before.probability, rel=1e-5)


@pytest.mark.parametrize("line", ["", "a\tb", "a\tb\tc\t1", "a\tb\t0.5\t1.5", "a\tb\t0.5\t1\tx"])
def test_other_lines_are_named(line: str) -> None:
    good = write_translation(Translation("a", "b", 1.0, 1))
    with pytest.raises(UserError, match=r"lex:2: .* is not a lexicon entry; expected source"):
        read_translations([good, line], "lex")


def test_an_entry_without_target_and_an_empty_file_are_refused() -> None:
    with pytest.raises(UserError, match="lex:1: an entry needs a target"):
        read_translations(["a\t\t1\t1"], "lex")
    with pytest.raises(UserError, match="lex: the lexicon is empty"):
        read_translations([], "lex")
