"""Attention that is biased by an alignment against loops of float64 arithmetic."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_luong as reference
from random_weights import randomize

from t2t_phrase.layers.alignment.biased_attention import BiasedAttention
from t2t_phrase.layers.luong.concat_score import ConcatScore
from t2t_phrase.layers.luong.dot_score import DotScore
from t2t_phrase.layers.luong.general_score import GeneralScore
from t2t_phrase.layers.luong.global_attention import GlobalAttention
from t2t_phrase.ops.masks import memory_mask

SCORES: dict[str, Any] = {"dot": DotScore, "general": GeneralScore, "concat": ConcatScore}
RNG = np.random.default_rng(0)
LENGTHS = [5, 2]
QUERY = RNG.normal(size=(2, 3, 4)).astype("float32")
MEMORY = RNG.normal(size=(2, 5, 4)).astype("float32")
MASK = np.asarray(memory_mask(np.arange(5) < np.array(LENGTHS)[:, None]))
ALIGNMENT = np.array([[4, 0, 0], [1, 1, 0]], "int32")


def built(score: str, kind: Any = BiasedAttention) -> Any:
    layer = kind(units=4, score=SCORES[score](name="score"), name="attention")
    layer.build(QUERY.shape, MEMORY.shape)
    randomize(layer, deviation=0.7)
    return layer


def below(layer: Any) -> dict[str, np.ndarray]:
    """Return the weights, whose names are relative to the layer."""
    inner = f"{layer.name}/"
    return {v.path.split(inner, 1)[-1]: np.asarray(v, "float64") for v in layer.trainable_variables}


@pytest.mark.parametrize("score", SCORES)
def test_the_key_of_the_aligned_position_is_shifted(score: str) -> None:
    layer = built(score)
    outputs, weights = layer(QUERY, MEMORY, ALIGNMENT, attention_mask=MASK)
    named = below(layer)
    for b, length in enumerate(LENGTHS):
        for t in range(3):
            memory = MEMORY[b, :length].astype("float64")
            logits = []
            for s in range(length):
                own = memory.copy()
                # Concat has the bias beside its own product; for the others the key is the memory.
                if s == ALIGNMENT[b, t] and score != "concat":
                    own[s] += named["bias"]
                logits.append(
                    reference.score(score, QUERY[b, t], own, s, named, int(ALIGNMENT[b, t]))
                )
            expected = reference.softmax(logits)
            np.testing.assert_allclose(weights[b, 0, t, :length], expected, atol=1e-5)
            context = np.array(expected) @ memory
            combined = reference.times([*context, *QUERY[b, t]], named["combine/kernel"])
            np.testing.assert_allclose(outputs[b, t], np.tanh(combined), atol=1e-5)
    assert not np.asarray(weights)[1, 0, :, 2:].any()


def test_where_nothing_is_aligned_or_the_bias_is_zero_it_is_global_attention() -> None:
    layer, plain = built("concat"), built("concat", GlobalAttention)
    weights = below(layer)
    for variable in plain.trainable_variables:
        variable.assign(weights[variable.path.split("attention/", 1)[-1]])
    expected = plain(QUERY, MEMORY, attention_mask=MASK)[0]
    nowhere = np.full_like(ALIGNMENT, -1)
    np.testing.assert_allclose(layer(QUERY, MEMORY, nowhere, attention_mask=MASK)[0], expected)
    layer.bias.assign(np.zeros(4))
    actual = layer(QUERY, MEMORY, ALIGNMENT, attention_mask=MASK)[0]
    np.testing.assert_allclose(actual, expected, atol=1e-6)


def test_one_time_at_a_time_and_from_its_configuration_it_is_the_same() -> None:
    layer = built("general")
    copy = BiasedAttention.from_config(layer.get_config())
    copy.build(QUERY.shape, MEMORY.shape)
    copy.set_weights(layer.get_weights())
    whole, _ = layer(QUERY, MEMORY, ALIGNMENT, attention_mask=MASK)
    projected = copy.align(copy.project_memory(MEMORY), ALIGNMENT)
    for t in range(3):
        now = copy.at_time(projected, t)
        output, _, _ = copy.attend_step(QUERY[:, t : t + 1], {}, t, now, MASK)
        np.testing.assert_allclose(output[:, 0], whole[:, t], atol=1e-6)


@pytest.mark.slow
def test_what_every_layer_owes(check_layer: Callable[..., None]) -> None:
    def make(dtype: str) -> BiasedAttention:
        score = ConcatScore(name="score", dtype=dtype)
        return BiasedAttention(units=4, score=score, dtype=dtype, name="attention")

    weights = (4 * 4 + 4 * 4 + 4) + 8 * 4 + 4  # score, W_c, b
    given = [QUERY, MEMORY, ALIGNMENT]
    check_layer(make, given, weights=weights, options={"attention_mask": MASK})
