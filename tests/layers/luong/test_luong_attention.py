"""Global and local attention with every score against loops of float64 arithmetic."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import reference_luong as reference
import tensorflow as tf
from random_weights import randomize

from t2t_phrase.layers.attention.layout import Layout
from t2t_phrase.layers.luong.attentional_vector import AttentionalVector
from t2t_phrase.layers.luong.concat_score import ConcatScore
from t2t_phrase.layers.luong.dot_score import DotScore
from t2t_phrase.layers.luong.general_score import GeneralScore
from t2t_phrase.layers.luong.global_attention import GlobalAttention
from t2t_phrase.layers.luong.local_monotonic_attention import LocalMonotonicAttention
from t2t_phrase.layers.luong.local_predictive_attention import LocalPredictiveAttention
from t2t_phrase.layers.luong.location_score import LocationScore
from t2t_phrase.ops.masks import memory_mask

U, P = 4, 5
SCORES: dict[str, Any] = {
    "dot": DotScore,
    "general": GeneralScore,
    "concat": ConcatScore,
    "location": LocationScore,
}
KINDS: dict[str, Any] = {
    "global": GlobalAttention,
    "local_m": LocalMonotonicAttention,
    "local_p": LocalPredictiveAttention,
}
RNG = np.random.default_rng(0)
LENGTHS = [8, 1, 5]
QUERY = RNG.normal(size=(3, 10, U)).astype("float32")
MEMORY = RNG.normal(size=(3, 8, U)).astype("float32")
MASK = np.asarray(memory_mask(np.arange(8) < np.array(LENGTHS)[:, None]))
PAIRS = [
    (kind, score) for kind in KINDS for score in SCORES if kind == "global" or score != "location"
]


def make(kind: str, score: str, dtype: str = "float32", window: int = 2) -> AttentionalVector:
    own = {"positions": P} if score == "location" else {}
    local = {} if kind == "global" else {"window": window}
    made = SCORES[score](name="score", dtype=dtype, **own)
    return KINDS[kind](units=U, score=made, dtype=dtype, **local)


def built(kind: str, score: str, width: int = U, **options: Any) -> AttentionalVector:
    layer = make(kind, score, **options)
    layer.build((None, None, U), (None, None, width))
    randomize(layer, deviation=0.7)
    return layer


def weights_of(layer: AttentionalVector) -> dict[str, np.ndarray]:
    inner = f"{layer.name}/"
    return {v.path.split(inner, 1)[-1]: np.asarray(v, "float64") for v in layer.trainable_variables}


def by_loops(layer: Any, kind: str, score: str, b: int, t: int, memory: Any = MEMORY) -> Any:
    return reference.attend(
        QUERY[b, t],
        memory[b, : LENGTHS[b]],
        weights_of(layer),
        kind=score,
        attention=kind,
        window=getattr(layer, "window", 0),
        positions=P,
        t=t,
    )


@pytest.mark.parametrize(("kind", "score"), PAIRS)
def test_equals_loops_also_at_the_borders(kind: str, score: str) -> None:
    """Windows begin before the sentence, end after it, and t passes its last token."""
    layer = built(kind, score)
    output, weights = layer(QUERY, MEMORY, MASK)
    assert weights.shape == (3, 1, 10, 8) and weights.dtype == tf.float32
    for b, t in np.ndindex(3, 10):
        expected, everywhere = by_loops(layer, kind, score, b, t)
        np.testing.assert_allclose(output[b, t], expected, atol=1e-5)
        np.testing.assert_allclose(weights[b, 0, t, : LENGTHS[b]], everywhere, atol=1e-6)
        assert not np.any(weights[b, 0, t, LENGTHS[b] :])


def test_a_memory_of_another_width() -> None:
    wide = RNG.normal(size=(3, 8, U + 2)).astype("float32")
    for kind, score in (("global", "general"), ("local_p", "concat")):
        layer = built(kind, score, width=U + 2)
        output, _ = layer(QUERY, wide, MASK)
        expected, _ = by_loops(layer, kind, score, 2, 3, wide)
        np.testing.assert_allclose(output[2, 3], expected, atol=1e-5)
    with pytest.raises(ValueError, match="decoder and encoder states of equal width, got 4 and 6"):
        built("global", "dot", width=U + 2)


@pytest.mark.parametrize("score", ["dot", "general", "concat"])
def test_a_window_that_covers_everything_equals_global_attention(score: str) -> None:
    everything = built("global", score)
    local = built("local_m", score, window=8)
    local.set_weights(everything.get_weights())
    for one, other in zip(local(QUERY, MEMORY, MASK), everything(QUERY, MEMORY, MASK), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize(("kind", "score"), [("local_m", "concat"), ("local_p", "general")])
def test_what_lies_outside_the_windows_is_never_read(kind: str, score: str) -> None:
    layer = built(kind, score, window=1)
    expected, weights = layer(QUERY, MEMORY, MASK)
    unread = np.asarray(weights)[:, 0].max(axis=1) == 0  # (B, S)
    assert unread.any()
    hidden = np.where(unread[..., None], np.float32(1e6), MEMORY)
    np.testing.assert_array_equal(layer(QUERY, hidden, MASK)[0], expected)


@pytest.mark.parametrize(("kind", "score"), [("global", "location"), ("local_m", "dot")])
def test_a_step_of_every_beam_is_that_of_the_whole_sentence(kind: str, score: str) -> None:
    layer = built(kind, score)
    projected = layer.project_memory(MEMORY)
    expected, expected_weights = layer(QUERY, MEMORY, MASK)
    for t in (0, 7):
        beams = np.stack([QUERY[:, t], QUERY[:, t]], axis=1)
        queries = layer.start_queries(3, 2)
        output, weights, queries = layer.attend_step(beams, queries, t, projected, MASK)
        assert layer.reorder_queries(queries, np.zeros((3, 2), int)) == queries
        for beam in range(2):
            np.testing.assert_allclose(output[:, beam], expected[:, t], atol=1e-6)
            np.testing.assert_allclose(weights[:, :, beam], expected_weights[:, :, t], atol=1e-6)


def test_only_padding_gives_no_weights_and_no_nan() -> None:
    for kind in KINDS:
        output, weights = built(kind, "dot")(QUERY, MEMORY, np.zeros_like(MASK))
        assert np.isfinite(output).all() and not np.any(weights)


def test_no_mask_is_no_padding() -> None:
    for kind in KINDS:
        layer = built(kind, "general")
        masked = layer(QUERY, MEMORY, np.ones_like(MASK))
        for one, other in zip(layer(QUERY, MEMORY), masked, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "score", "weights"),
    [("global", "concat", 2 * U * U + U), ("local_p", "general", 2 * U * U + U)],
)
def test_contract(check_layer: Callable, kind: str, score: str, weights: int) -> None:
    check_layer(
        lambda dtype: make(kind, score, dtype),
        [QUERY, MEMORY],
        weights=weights + 2 * U * U,
        options={"attention_mask": MASK},
    )


def test_the_position_learns_through_the_gaussian_alone() -> None:
    layer = built("local_p", "dot")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(QUERY, MEMORY, MASK)[0] ** 2)
    assert np.abs(tape.gradient(loss, layer.position_vector.value)).max() > 1e-4


def test_initial_weights_are_uniform_in_the_range() -> None:
    layer = LocalPredictiveAttention(
        units=60, score=ConcatScore(initial_range=0.1), window=2, initial_range=0.1
    )
    layer.build((None, None, 60), (None, None, 60))
    kernels = [np.asarray(v) for v in layer.trainable_variables if np.size(v) > 1000]
    assert len(kernels) == 4
    for kernel in kernels:
        assert 0.095 < np.abs(kernel).max() <= 0.1 and abs(kernel.std() - 0.1 / 3**0.5) < 0.003
    assert len({float(kernel.flat[0]) for kernel in kernels}) == 4


def test_location_scores_have_no_windows() -> None:
    with pytest.raises(ValueError, match="LocationScore cannot score a window"):
        make("local_m", "location")


def test_a_window_of_one_position_has_no_deviation() -> None:
    with pytest.raises(ValueError, match="window must be at least 1, got 0"):
        LocalPredictiveAttention(units=4, score=DotScore(), window=0)


def test_layout() -> None:
    assert make("local_p", "dot").layout == Layout(num_heads=1)


@pytest.mark.parametrize("kind", ["local_m", "local_p"])
def test_windows_are_where_the_weights_are(kind: str) -> None:
    """Outside of them all weights are 0, and what the Gaussian leaves sums up to 1."""
    layer = built(kind, "general")
    projected = layer.project_memory(MEMORY)
    _, weights = layer.attend(QUERY, projected, MASK)
    windows = layer.windows(QUERY, projected, MASK)
    assert windows.radius == 2 and windows.deviation == (1.0 if kind == "local_p" else None)
    for b, length in enumerate(LENGTHS):
        for t in range(QUERY.shape[1]):
            aligned, centre = float(windows.aligned[b, t]), int(windows.centre[b, t])
            assert centre == min(int(np.floor(aligned + 0.5)), length - 1)
            if kind == "local_m":
                assert aligned == min(t, length - 1)
            places = np.arange(length)
            inside = np.abs(places - centre) <= 2
            row = np.asarray(weights[b, 0, t, :length], "float64")
            np.testing.assert_array_equal(row > 0, inside)
            if kind == "local_p":
                row[inside] /= np.exp(-((places[inside] - aligned) ** 2) / 2)
            np.testing.assert_allclose(row.sum(), 1.0, rtol=1e-4)
