"""Logits of a history's n-grams against loops over each beam's own tokens."""

import numpy as np
import pytest

from t2t_phrase.ops.history_ngrams import history_ngram_logits
from t2t_phrase.ops.masks import history_mask

B, K, L, HEADS, WIDTH = 2, 3, 5, 2, 4
RNG = np.random.default_rng(0)
ANCESTORS = RNG.integers(0, K, (B, K, L))
KEY = RNG.normal(size=(B, HEADS, WIDTH, L * K)).astype("float32")


def by_loops(query: np.ndarray, index: int) -> np.ndarray:
    """Return float64 logits, zero at entries that the beam does not see."""
    rows = query.shape[1]
    order = query.shape[3] // WIDTH
    out = np.zeros((B, HEADS, rows, L * K))
    for b, h, row, time in np.ndindex(B, HEADS, rows, index + 1):
        own = ANCESTORS[b, row % K]
        for t in range(order):
            earlier = time - order + 1 + t
            if earlier >= 0:
                part = query[b, row, h, t * WIDTH : (t + 1) * WIDTH].astype("float64")
                key = KEY[b, h, :, earlier * K + own[earlier]]
                out[b, h, row, time * K + own[time]] += part @ key
    return out


@pytest.mark.parametrize("index", [0, 1, 4])
@pytest.mark.parametrize("query_orders", [1, 2])
@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_n_grams_of_a_history_equal_loops(order: int, query_orders: int, index: int) -> None:
    query = RNG.normal(size=(B, query_orders * K, HEADS, order * WIDTH)).astype("float32")
    expected = by_loops(query, index)
    visible = np.asarray(history_mask(ANCESTORS, index))
    seen = np.broadcast_to(np.tile(visible, (1, 1, query_orders, 1)), expected.shape)
    whole = np.asarray(history_ngram_logits(query, KEY, visible))
    np.testing.assert_allclose(whole[seen], expected[seen], atol=1e-5)
    past = (index + 1) * K  # a history that grows holds no later times
    grown = np.asarray(history_ngram_logits(query, KEY[..., :past], visible[..., :past]))
    np.testing.assert_allclose(
        grown[seen[..., :past]], expected[..., :past][seen[..., :past]], atol=1e-5
    )
