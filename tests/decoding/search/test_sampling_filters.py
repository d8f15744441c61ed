"""What may be drawn, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.search.sampling_filters import Filters, filtered

LOGITS = 2 * np.random.default_rng(0).normal(size=(20, 30)).astype("float32")


def kept_by_loops(logits: np.ndarray, filters: Filters) -> set[int]:
    """Return the tokens that may be drawn."""
    probabilities = np.exp(logits.astype("float64"))
    probabilities /= probabilities.sum()
    order = np.argsort(-probabilities).tolist()
    kept = {*order[: filters.keep_top_k or None]}
    nucleus, mass = set(), 0.0
    for token in order:
        if mass >= filters.top_p and nucleus:
            break
        nucleus.add(token)
        mass += probabilities[token]
    likely = {token for token in order if probabilities[token] >= filters.epsilon}
    return kept & nucleus & (likely | {order[0]})


@pytest.mark.parametrize("xla", [False, True])
def test_they_equal_loops(xla: bool) -> None:
    cases = [
        Filters(),
        Filters(keep_top_k=3),
        Filters(keep_top_k=100),
        Filters(top_p=0.0),
        Filters(top_p=0.5),
        Filters(top_p=0.95),
        Filters(epsilon=0.02),
        Filters(epsilon=1.0),
        Filters(keep_top_k=4, top_p=0.8, epsilon=0.05),
    ]
    found = compiled(lambda logits: [filtered(logits, case) for case in cases], xla=xla)(LOGITS)
    sizes = set()
    for case, logits in zip(cases, found, strict=True):
        for row, before in zip(np.asarray(logits), LOGITS, strict=True):
            kept = set(np.flatnonzero(np.isfinite(row)).tolist())
            assert kept == kept_by_loops(before, case), case
            np.testing.assert_array_equal(row[[*kept]], before[[*kept]])
            sizes.add(len(kept))
    assert len(sizes) > 8, "the filters should keep many or few"


def test_a_nucleus_that_has_exactly_the_probability_is_enough() -> None:
    logits = np.log(np.array([[0.5, 0.25, 0.25]], "float32"))
    kept = np.isfinite(np.asarray(filtered(logits, Filters(top_p=0.5))))
    np.testing.assert_array_equal(kept, [[True, False, False]])
