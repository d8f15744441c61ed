"""Initial weights are drawn independently of each other."""

import itertools

import keras
import numpy as np
import pytest

from t2t_phrase import registry

registry.discover()

SETS = (
    "transformer_tiny",
    "phrase_heterogeneous_convkv_1_2_demo",
    "phrase_interleaved_queryk_1_2_demo",
    "phrase_representation_max_attn_ta_demo",
    "mgsa_ngram_san_demo",
    "mgsa_ngram_lstm_demo",
    "mgsa_syntax_onlstm_demo",
    "alignment_assisted_demo",
    "alignment_model_demo",
    "alignment_model_rnn_demo",
    "luong_local_p_general_feed_demo",
)


def drawn(model: keras.Model) -> dict[str, np.ndarray]:
    """Return the matrices of a model, and those of each head where there are several."""
    found = {}
    for variable in model.trainable_variables:
        value = keras.ops.convert_to_numpy(variable)
        if value.ndim < 2 or np.unique(value).size < value.size / 2:
            continue  # not random
        slices = value if value.ndim == 3 else [value]
        found |= {f"{variable.path}[{place}]": part for place, part in enumerate(slices)}
    return found


@pytest.mark.parametrize("name", SETS)
def test_no_two_are_correlated(name: str) -> None:
    keras.utils.set_random_seed(1)
    hparams = registry.hparams[name]()
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=64)
    weights = drawn(model)
    assert len(weights) > 4
    for (one, a), (other, b) in itertools.combinations(weights.items(), 2):
        if a.size != b.size or a.size < 100:
            continue
        found = abs(np.corrcoef(a.ravel(), b.ravel())[0, 1])
        # Six standard deviations of independent numbers.
        assert found < 6 / a.size**0.5, f"{one} and {other}: {found}"
