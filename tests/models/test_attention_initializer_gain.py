"""`attention_initializer_gain` scales the initial queries, keys and values of every family."""

from __future__ import annotations

import math

import keras
import numpy as np
import pytest
from exact_models import VOCAB

from t2t_phrase import registry

registry.discover()

TINY = "hidden_size=16,filter_size=16,num_heads=4,num_hidden_layers=1"
# For each set, how many maps of queries, keys and values the model has.
SETS = {
    "transformer_demo": 9,
    "transformer_relative": 9,
    # ConvKV: the two orders share the query; QueryK: they share the keys.
    "phrase_heterogeneous_convkv_1_2_demo": 15,
    "phrase_homogeneous_queryk_2_2_demo": 12,
    "phrase_interleaved_queryk_1_2_demo": 15,
    # A second attention in each layer, to phrases.
    "phrase_representation_max_attn_demo": 15,
    # Heads of segments have further keys and values.
    "mgsa_ngram_san_demo": 11,
    "alignment_assisted_demo": 9,
    # Its attention to the source is hard.
    "alignment_model_demo": 6,
}


def initial_weights(name: str, gain: float) -> dict[str, np.ndarray]:
    keras.utils.set_random_seed(0)
    hparams = registry.hparams[name]().override(f"{TINY},attention_initializer_gain={gain}")
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    return {v.path: np.asarray(v) for v in model.trainable_variables}


def is_scaled(path: str) -> bool:
    # Neither the composition of segments nor the alignment head.
    *_, layer, dense, _ = path.split("/")
    kind = dense.removeprefix("segment_").split("_")[0]
    return layer.endswith("attention") and kind in ("query", "key", "value")


@pytest.mark.parametrize("name", SETS)
def test_only_queries_keys_and_values_are_scaled(name: str) -> None:
    usual, scaled = initial_weights(name, 1.0), initial_weights(name, 0.5)
    assert usual.keys() == scaled.keys()
    changed = [path for path in usual if not np.array_equal(usual[path], scaled[path])]
    assert changed == [path for path in usual if is_scaled(path)]
    assert len(changed) == SETS[name]
    for path in changed:
        np.testing.assert_allclose(scaled[path], usual[path] * math.sqrt(0.5), atol=1e-6)
