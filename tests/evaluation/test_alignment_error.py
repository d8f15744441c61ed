"""Alignment error rate, against its formula by hand."""

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.alignment_error import alignment_error, score_files
from t2t_phrase.text.alignments.pharaoh import read_links


def scored(links, gold):
    return alignment_error([read_links(line).all for line in links], [*map(read_links, gold)])


def test_rates_of_a_corpus():
    # 5 links: 2 sure, 1 possible, 2 wrong. 4 sure links.
    error = scored(["0-0 1-1 2-2", "", "0-1 5-5"], ["0-0 1?1", "0-0 0-1", "0-1"])
    assert error.precision == pytest.approx(3 / 5) and error.recall == pytest.approx(2 / 4)
    assert error.error_rate == pytest.approx(1 - (2 + 3) / (5 + 4))
    assert str(error) == (
        "AER = 44.44 (precision = 60.00, recall = 50.00; 5 links, 4 sure and 1 possible ones in 3 "
        "sentences)"
    )


def test_borders():
    assert scored(["0-0 1?1"], ["0-0 1?1"]).error_rate == 0
    assert scored(["0-0"], ["1-1"]).error_rate == 1
    nothing = scored([""], [""])
    assert (nothing.error_rate, nothing.precision, nothing.recall) == (0, 1, 1)
    assert scored([""], ["0-0"]).error_rate == 1


def test_links_beside_the_right_ones_are_counted():
    # Word 1 is right at 2: 1-1 is left of it, 3-1 right of it, 0-1 far away; 2-1 is right itself.
    error = scored(["0-1 1-1 2-1 3-1", "4-0"], ["2-1", "4-0 5-0"])
    assert (error.found, error.one_left, error.one_right) == (2, 1, 1)
    # Between two right ones it is both; the right word of another target word does not count.
    between = scored(["1-0 0-1"], ["0-0 2-0 3-1"])
    assert (between.one_left, between.one_right) == (1, 1)


def test_faults_are_named(tmp_path):
    (tmp_path / "own").write_text("0-0\n1-1 x\n")
    (tmp_path / "gold").write_text("0-0\n")
    with pytest.raises(UserError, match=r"/own:2: 'x' is not a link"):
        score_files(str(tmp_path / "own"), str(tmp_path / "gold"))
    (tmp_path / "own").write_text("0-0 1-1\t0-0\n")
    with pytest.raises(UserError, match=r"/own:1: a tab, as between the alignments of several"):
        score_files(str(tmp_path / "own"), str(tmp_path / "gold"))
    (tmp_path / "own").write_text("0-0\n1-1\n")
    with pytest.raises(UserError, match=r"/own has 2 lines and \S*/gold has 1; the lines must"):
        score_files(str(tmp_path / "own"), str(tmp_path / "gold"))
    for name in ("own", "gold"):
        (tmp_path / name).write_text("")
    with pytest.raises(UserError, match=r"own and .*gold are empty: there are no sentences"):
        score_files(str(tmp_path / "own"), str(tmp_path / "gold"))


def test_left_and_right_are_told_apart():
    error = scored(["1-1 0-0 5-2"], ["2-1 1-0 4-2"])
    assert (error.one_left, error.one_right) == (2, 1)
