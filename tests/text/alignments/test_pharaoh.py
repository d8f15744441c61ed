"""Lines of links in Pharaoh format."""

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.text.alignments.pharaoh import Links, check_range, read_links, write_links


@pytest.mark.parametrize(
    ("line", "sure", "possible"),
    [
        ("", set(), set()),
        (" \t", set(), set()),
        ("0-0  1-2 10-3", {(0, 0), (1, 2), (10, 3)}, set()),
        ("0-0 0-0", {(0, 0)}, set()),
        ("0?0 1p2 2-3? 3-4p 4-4", {(4, 4)}, {(0, 0), (1, 2), (2, 3), (3, 4)}),
        ("0?0 0-0 1-1 1p1", {(0, 0), (1, 1)}, set()),
    ],
)
def test_links_are_read(line, sure, possible):
    assert read_links(line) == Links(frozenset(sure), frozenset(possible))
    assert read_links(line).all == sure | possible


@pytest.mark.parametrize("field", ["1", "1-", "-1", "1--2", "1:2", "1-2-3", "a-b", "1-²", "0-0,"])
def test_what_is_no_link_is_named(field):
    with pytest.raises(UserError, match=r"^'.*' is not a link; expected the numbers of a source"):
        read_links(f"0-0 {field} 1-1")


def test_alignments_of_several_hypotheses_are_refused():
    with pytest.raises(UserError, match="a tab, as between the alignments of several hypotheses"):
        read_links("0-0 1-1\t0-1")


def test_long_numbers_and_fields_are_refused_in_a_short_line():
    for field in ("1-1234567890", f"{'9' * 10000}?0"):
        with pytest.raises(UserError, match="too large for a word of a sentence") as caught:
            read_links(field)
        assert len(str(caught.value)) < 200


def test_links_are_written_in_order():
    assert write_links([(10, 0), (2, 1), (2, 0)]) == "2-0 2-1 10-0"
    assert write_links([(1, 1)], possible=[(0, 5), (1, 1)]) == "0?5 1-1"
    assert write_links([]) == ""


def test_links_must_be_between_words_that_exist():
    check_range([(2, 1)], 3, 2)
    check_range([(9, 1)], None, 2)
    with pytest.raises(UserError, match=r"link 2-1: there is no source word 2; .* has 2 words$"):
        check_range([(2, 1), (0, 0)], 2, 2)
    with pytest.raises(UserError, match=r"link 0-1: .* target word 1; .* the target has 1 word$"):
        check_range([(0, 1)], 2, 1)
    with pytest.raises(UserError, match=r"link 0-0: .* the source has no words$"):
        check_range([(0, 0)], 0, 0)
