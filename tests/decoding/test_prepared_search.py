"""Searches with prepared weights notice that a model was trained."""

from typing import Any

import keras
import numpy as np
import pytest
from keras import ops

from t2t_phrase.decoding.prepared_search import PreparedSearch
from t2t_phrase.decoding.search.search_weights import SearchWeights, reading

ROWS = np.random.default_rng(0).normal(size=(3, 8)).astype("float32")


class OneProduct(keras.Model):
    """As much of a model as is prepared."""

    compute_dtype = "float32"

    def __init__(self) -> None:
        from t2t_phrase.layers.common.dense import Dense

        super().__init__()
        self.dense = Dense(5, use_bias=False)
        self.dense.build((None, 8))

    def weights_to_compute_with(self) -> Any:
        return [(variable, variable.value) for variable in self.variables]

    def fold_weights(self) -> Any:
        return {}


@pytest.mark.parametrize("quantized", [False, True])
def test_weights_that_have_changed_are_prepared_again(quantized: bool) -> None:
    model = OneProduct()
    prepared = []

    def search(weights: SearchWeights, rows: Any) -> Any:
        assert bool(weights.quantized) == quantized
        prepared.append(weights)
        with reading(model, weights, constant=True):
            return model.dense(ops.convert_to_tensor(rows))

    searches = PreparedSearch(search, model, quantized=quantized, xla=False)
    for _ in range(2):
        model.dense.kernel.assign(np.random.default_rng(len(prepared)).normal(size=(8, 5)))
        for _ in range(2):
            found = np.asarray(searches.prepared()(ROWS))
            exact = ROWS @ np.asarray(model.dense.kernel)
            np.testing.assert_allclose(found, exact, atol=0.1)
            assert (np.abs(found - exact).max() > 1e-4) == quantized
    # Traced once for each set of weights that a product may have kept, or once for all.
    assert len(prepared) == 1 + quantized
