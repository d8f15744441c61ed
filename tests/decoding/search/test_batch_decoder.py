"""What decoders around another one may bar."""

from __future__ import annotations

import numpy as np
import pytest

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder


@pytest.mark.parametrize("others", [[], [0], [0, 3]])
def test_what_is_given_is_never_barred_and_something_always_completes_it(others: list[int]) -> None:
    """One sentence with three hypotheses, of which the last is no longer within its beginning."""
    inner, own, given = (np.zeros((1, 3, 4), bool) for _ in range(3))
    inner[..., others] = True
    own[..., 1:] = True
    given[0, 0, 2] = True
    decoder = BatchDecoder(
        step=lambda *_: None,
        cache={},
        reorder=lambda cache, parents: cache,
        barred=lambda cache, vocab_size: inner,
        busy=lambda cache: np.array([[True, True, False]]),
        given=lambda cache, vocab_size: given,
    )
    found = np.asarray(decoder.also_barred({}, own))
    barred = [np.flatnonzero(row).tolist() for row in found[0]]
    # With every token barred but 0, which the inner decoder bars, own bans are dropped.
    assert barred == [
        sorted({1, 3, *others}),
        sorted({*others, *([] if 0 in others else [1, 2, 3])}),
        sorted({1, 2, 3, *others}),
    ]
    free = decoder._replace(barred=None, busy=None, given=None)
    np.testing.assert_array_equal(free.also_barred({}, own), own)
