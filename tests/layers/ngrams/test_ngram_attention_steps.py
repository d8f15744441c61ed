"""N-gram attention token by token equals the same attention over whole sentences."""

import numpy as np
import pytest
from branching_beams import BranchingBeams
from ngram_layers import MEMORY, MEMORY_IDS, D, H, X, built, make

from t2t_phrase import registry
from t2t_phrase.ops.masks import causal_mask, history_mask, memory_mask


@pytest.mark.parametrize("beam_size", [pytest.param(1, marks=pytest.mark.slow), 3])
@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize("kind", registry.attentions)
def test_step_by_step_equals_the_whole_with_beams_that_branch(
    kind: str, limit: int, beam_size: int
) -> None:
    layer, length = built(kind, "decoder", (1, 2, 3), limit), 5
    cache = layer.start_cache(2, beam_size, length)
    beams = BranchingBeams(2, beam_size, length, D)
    for time in range(length):
        token = beams.grow()
        output, _, cache = layer.step(token, cache, time, beams.visible())
        rows = beams.histories.reshape(2 * beam_size, time + 1, D)
        whole, _ = layer(rows, rows, causal_mask(time + 1))
        np.testing.assert_allclose(np.reshape(output, (-1, D)), whole[:, -1], atol=1e-5)
        cache = layer.reorder(cache, beams.branch())


@pytest.mark.parametrize("kind", registry.attentions)
def test_queries_one_by_one_equal_the_whole_with_beams_that_branch(kind: str) -> None:
    layer = built(kind, "cross", (1, 2, 3))
    mask = memory_mask(MEMORY_IDS)
    projected = layer.project_memory(MEMORY)
    queries = layer.start_queries(3, 2)
    assert bool(queries) == kind.startswith("interleaved")
    beams = BranchingBeams(3, 2, 4, D)
    for time in range(4):
        token = beams.grow()
        output, _, queries = layer.attend_step(token, queries, time, projected, mask)
        for k in range(2):
            whole, _ = layer(beams.histories[:, k], MEMORY, mask)
            np.testing.assert_allclose(output[:, k], whole[:, -1], atol=1e-5)
        queries = layer.reorder_queries(queries, beams.branch())


@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize("kind", registry.attentions)
def test_weights_of_steps_equal_those_of_the_whole(kind: str, limit: int) -> None:
    layer, length = built(kind, "decoder", (1, 3), limit), 5
    _, whole = layer(X, X, causal_mask(length))
    rows = whole.shape[2] // length
    cache = layer.start_cache(3, 1, length)
    for time in range(length):
        mask = history_mask(np.zeros((3, 1, length), "int32"), time)
        _, weights, cache = layer.step(X[:, time : time + 1], cache, time, mask)
        # One row for each query order.
        expected = np.asarray(whole)[:, :, [row * length + time for row in range(rows)]]
        np.testing.assert_allclose(weights, expected, atol=1e-6)


@pytest.mark.parametrize("kind", registry.attentions)
def test_weights_of_single_queries_equal_those_of_the_whole(kind: str) -> None:
    layer, length = built(kind, "cross", (1, 3)), 5
    mask = memory_mask(MEMORY_IDS)
    _, whole = layer(X, MEMORY, mask)
    rows = whole.shape[2] // length
    projected, queries = layer.project_memory(MEMORY), layer.start_queries(3, 1)
    for time in range(length):
        token = X[:, time : time + 1]
        _, weights, queries = layer.attend_step(token, queries, time, projected, mask)
        expected = np.asarray(whole)[:, :, [row * length + time for row in range(rows)]]
        np.testing.assert_allclose(weights, expected, atol=1e-6)


@pytest.mark.parametrize("kind", registry.attentions)
def test_what_is_kept_grows_with_the_orders_alone(kind: str) -> None:
    """The last n - 1 tokens, never the prefix."""
    cache = built(kind, "decoder", (1, 3)).start_cache(2, 4, 50)
    assert all(kept.shape[:3] == (2, 4, 2) for kept in cache["recent"].values())
    assert {"input"} <= set(cache["recent"])
    for name, kept in cache["history"].items():
        assert kept.shape[-2 if name == "value" else -1] == 200


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kind", ["heterogeneous_queryk", "interleaved_queryk"])
def test_a_history_keeps_the_keys_of_tokens_and_shared_ones_once(kind: str, shared: bool) -> None:
    layer = make(kind, (1, 2, 3), share_key_projection=shared)
    layer.build((None, None, D))
    cache = layer.start_cache(3, 1, 5)
    keys = {"key"} if shared else {"key_1", "key_2", "key_3"}
    assert set(cache["history"]) == {*keys, "value"}
    assert {cache["history"][name].shape for name in keys} == {(3, H, D // H, 5)}
    whole, _ = layer(X, X, causal_mask(5))
    for time in range(5):
        mask = history_mask(np.zeros((3, 1, 5), "int32"), time)
        output, _, cache = layer.step(X[:, time : time + 1], cache, time, mask)
        np.testing.assert_allclose(output[:, 0], whole[:, time], atol=1e-5)


def test_an_encoder_that_looks_ahead_cannot_decode() -> None:
    with pytest.raises(ValueError, match="look_ahead=True cannot decode"):
        make("interleaved_convkv", look_ahead=True).start_cache(1, 1, 1)
