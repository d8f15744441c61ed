"""Masks between phrases as matrices of four tokens."""

import numpy as np

from t2t_phrase.ops.masks import causal_mask, history_mask, memory_mask, same_pair_mask
from t2t_phrase.ops.ngram_masks import attended_mask, ngram_memory_mask, ngram_query_mask


def picture(mask: object) -> list[str]:
    """Return the rows of a mask of one sentence and head, x where one may attend."""
    return ["".join(".x"[int(value)] for value in row) for row in np.asarray(mask)[0, 0]]


def test_phrases_need_their_tokens() -> None:
    assert picture(ngram_memory_mask(None, (1, 2, 4), 4)) == ["xxxx.xxx...x"]


def test_padding_holds_no_phrases() -> None:
    mask = memory_mask(np.array([[5, 6, 1, 0]]))
    assert picture(ngram_memory_mask(mask, (1, 3), 4)) == ["xxx...x."]


def test_phrases_of_the_past() -> None:
    assert picture(ngram_memory_mask(causal_mask(4), (1, 2), 4)) == [
        "x.......",
        "xx...x..",
        "xxx..xx.",
        "xxxx.xxx",
    ]


def test_phrases_of_beams_side_by_side() -> None:
    """Two beams at time 2, both descended from beam 1 at time 0."""
    ancestors = np.array([[[1, 0, 0], [1, 1, 1]]])
    mask = ngram_memory_mask(history_mask(ancestors, 2), (1, 2), 6, beam_size=2)
    assert picture(mask) == [".xx.x...x.x.", ".x.x.x...x.x"]


def test_query_phrases_of_the_past() -> None:
    memory = ngram_memory_mask(causal_mask(3), (1, 2), 3)
    assert picture(ngram_query_mask(memory, (1, 2), np.arange(3))) == [
        "x.....",
        "xx..x.",
        "xxx.xx",
        "......",
        "xx..x.",
        "xxx.xx",
    ]


def test_padding_asks_no_phrases() -> None:
    mask = memory_mask(np.array([[5, 1, 0], [5, 6, 1]]))
    real = attended_mask(mask)
    np.testing.assert_array_equal(real, [[True, True, False], [True, True, True]])
    rows = ngram_query_mask(mask, (1, 2), np.arange(3), real)
    assert picture(rows) == ["xx.", "xx.", "...", "...", "xx.", "..."]
    assert picture(rows[1:]) == ["xxx", "xxx", "xxx", "...", "xxx", "xxx"]


def test_a_query_at_a_later_time_has_its_predecessors() -> None:
    rows = ngram_query_mask(ngram_memory_mask(None, (1,), 2), (1, 2, 3), np.array([1, 1]))
    assert picture(rows) == ["xx", "xx", "xx", "xx", "..", ".."]


def test_masks_of_fewer_axes() -> None:
    flat = np.array([True, False, True])
    np.testing.assert_array_equal(
        ngram_memory_mask(flat, (1, 2), 3), [[[[True, False, True, False, False, True]]]]
    )
    np.testing.assert_array_equal(attended_mask(flat), [[True, False, True]])


# Two sentences of three and two tokens in one row.
PAIRS = np.array([[1, 1, 1, 2, 2, 0]])
PLACES = np.array([[0, 1, 2, 0, 1, 0]])


def test_phrases_stay_within_their_sentence_of_a_row() -> None:
    mask = same_pair_mask(PAIRS, PAIRS)
    memory = ngram_memory_mask(mask, (1, 2), 6, memory_positions=PLACES)
    assert picture(memory) == [
        *["xxx....xx..."] * 3,
        *["...xx.....x."] * 2,
        "............",
    ]


def test_every_row_has_its_own_sentences() -> None:
    places = np.array([[0, 1, 2], [0, 0, 1]])
    found = ngram_memory_mask(None, (1, 2), 3, memory_positions=places)
    assert found.shape == (2, 1, 1, 6)
    assert [picture(row[None]) for row in np.asarray(found)] == [["xxx.xx"], ["xxx..x"]]


def test_phrases_that_begin_before_their_sentence_ask_nothing() -> None:
    rows = ngram_query_mask(same_pair_mask(PAIRS, PAIRS), (1, 2), PLACES)
    assert picture(rows) == [
        *["xxx...", "xxx...", "xxx...", "...xx.", "...xx.", "......"],
        *["......", "xxx...", "xxx...", "......", "...xx.", "......"],
    ]
