"""Initial weights of the map of n-grams; `test_ngram_attention` compares its results with loops."""

import numpy as np
import pytest

from t2t_phrase.layers.ngrams.ngram_dense import NgramDense


@pytest.mark.parametrize(("order", "units", "gain"), [(1, 50, 1.0), (3, 200, 1.0), (2, 80, 0.5)])
def test_kernels_start_uniform_with_variance_one_over_the_inputs(
    order: int, units: int, gain: float
) -> None:
    layer = NgramDense(order=order, units=units, initializer_gain=gain)
    layer.build((None, None, 100))
    values, variance = np.asarray(layer.kernel), gain / (order * 100)
    assert abs(values.var() / variance - 1) < 0.06
    assert np.abs(values).max() <= np.sqrt(3 * variance) * (1 + 1e-6)
