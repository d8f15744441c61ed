import os

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import compiled
from t2t_phrase.ops.row_sum import row_sum


@pytest.mark.parametrize("xla", [False, True])
@pytest.mark.parametrize("shape", [(7, 5), (2, 3, 4), (1, 6), (0, 3)])
def test_is_the_sum_of_all_rows(shape: tuple[int, ...], xla: bool) -> None:
    x = np.random.default_rng(0).normal(size=shape)
    found = compiled(row_sum, xla=xla)(tf.constant(x, "float32"))
    expected = np.zeros(shape[-1])
    for place in np.ndindex(*shape[:-1]):
        expected += x[place]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.skipif(
    os.environ.get("TF_ENABLE_ONEDNN_OPTS") == "0", reason="oneDNN's products sum in float32"
)
def test_many_bfloat16_numbers_are_summed_in_float32() -> None:
    # In bfloat16, a sum of ones would stop at 256.
    assert (row_sum(tf.ones((3000, 4), "bfloat16")).numpy().astype("float32") == 3008).all()
