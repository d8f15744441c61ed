"""Joining two directions: hand-made matrices, and the published loops over a matrix."""

import itertools

import numpy as np
import pytest

from t2t_phrase.word_aligner.symmetrization import SYMMETRIZATIONS


def links(*rows):
    return {(i, j) for i, row in enumerate(rows) for j, mark in enumerate(row) if mark == "x"}


def from_the_pseudo_code(forward, backward, size):
    """Grow-diag-final-and as in Koehn et al. (2005), Figure 1, over matrices."""
    ahead, back = np.zeros((size, size), bool), np.zeros((size, size), bool)
    for matrix, found in ((ahead, forward), (back, backward)):
        for link in found:
            matrix[link] = True
    union, alignment = ahead | back, ahead & back
    neighbours = [(-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    while True:
        before = alignment.copy()
        for e, f in itertools.product(range(size), repeat=2):
            if not alignment[e, f]:
                continue
            for a, b in neighbours:
                new = e + a, f + b
                if not all(0 <= n < size for n in new) or alignment[new] or not union[new]:
                    continue
                if not alignment[new[0]].any() or not alignment[:, new[1]].any():
                    alignment[new] = True
        if (before == alignment).all():
            break
    for matrix in (ahead, back):
        for e, f in itertools.product(range(size), repeat=2):
            if matrix[e, f] and not alignment[e].any() and not alignment[:, f].any():
                alignment[e, f] = True
    return {(int(e), int(f)) for e, f in np.argwhere(alignment)}


def test_a_matrix_by_hand():
    forward = links("x....", ".x...", ".x...", "....x", ".....")
    backward = links("x....", ".x...", "..x..", ".....", "...x.")
    join = {name: function(forward, backward) for name, function in SYMMETRIZATIONS.items()}
    assert join["intersection"] == links("x....", ".x...", ".....", ".....", ".....")
    assert join["union"] == links("x....", ".x...", ".xx..", "....x", "...x.")
    assert join["forward"] == forward and join["backward"] == backward
    # (2, 1) and (2, 2) neighbour (1, 1); then (2, 2) has a new column. The rest has no neighbour
    # in time, and is added since both words are free.
    assert join["grow-diag-final-and"] == links("x....", ".x...", ".xx..", "....x", "...x.")


def test_a_link_between_words_that_have_links_is_left_out():
    forward, backward = links("xx", ".x"), links("x.", ".x")
    assert SYMMETRIZATIONS["grow-diag-final-and"](forward, backward) == links("x.", ".x")


@pytest.mark.parametrize("seed", range(60))
def test_growing_is_that_of_the_published_loops(seed):
    generator = np.random.default_rng(seed)
    size = int(generator.integers(1, 8))
    forward = {(int(generator.integers(size)), j) for j in range(size) if generator.random() < 0.8}
    backward = {(i, int(generator.integers(size))) for i in range(size) if generator.random() < 0.8}
    # Real alignments agree in part.
    backward |= {(i, j) for i, j in forward if generator.random() < 0.4}
    found = SYMMETRIZATIONS["grow-diag-final-and"](forward, backward)
    assert found == from_the_pseudo_code(forward, backward, size)
    assert forward & backward <= found <= forward | backward
