"""The likeliest tokens, found in blocks, against a stable sort; normalisers against float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from t2t_phrase.compile import compiled
from t2t_phrase.ops.likeliest import block_width, likeliest, logits_of


def sorted_out(logits: Any, count: int) -> tuple[Any, Any]:
    """Return the greatest logits and their tokens, the lowest token first among equal ones."""
    tokens = np.argsort(-logits, axis=-1, kind="stable")[..., :count]
    return np.take_along_axis(logits, tokens, axis=-1), tokens


def found_by(logits: Any, count: int, *, xla: bool) -> Any:
    """Return what a graph or XLA finds."""
    return compiled(lambda x: likeliest(x, count), xla=xla)(ops.convert_to_tensor(logits))


def assert_found(logits: Any, count: int) -> None:
    expected_values, expected_tokens = sorted_out(logits, count)
    for xla in (False, True):
        values, tokens, _ = found_by(logits, count, xla=xla)
        np.testing.assert_array_equal(tokens, expected_tokens)
        np.testing.assert_array_equal(values, expected_values)


# Vocabularies that blocks divide, that are prime, just long enough, and too short.
@pytest.mark.parametrize("vocab", [3000, 2999, 512, 40])
@pytest.mark.parametrize("count", [1, 2, 8])
def test_blocks_find_what_a_sort_finds(vocab: int, count: int) -> None:
    rng = np.random.default_rng(vocab + count)
    assert_found(rng.normal(size=(2, 3, vocab)).astype("float32"), count)


@pytest.mark.parametrize("vocab", [3000, 2999])
@pytest.mark.parametrize("kinds", [1, 5])
def test_of_equal_logits_the_lowest_token_comes_first(vocab: int, kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    logits = rng.integers(0, kinds, (6, vocab)).astype("float32")
    assert_found(logits, 7)
    with_none = np.where(logits == 0, -np.inf, logits)
    assert_found(with_none.astype("float32"), 7)


@pytest.mark.parametrize("vocab", [3000, 2999])
def test_excluded_tokens_fill_up_in_their_order(vocab: int) -> None:
    logits = np.full((3, vocab), -np.inf, "float32")
    logits[0, [vocab - 1, 1500, 1501]] = [2.0, 1.0, 2.0]
    logits[1, 2] = 0.0
    assert_found(logits, 8)


def test_the_best_may_all_be_in_one_block() -> None:
    logits = np.arange(3000, dtype="float32")[None] % 2500
    assert_found(logits, 8)
    assert_found(logits[:, ::-1].copy(), 8)


def test_vocabularies_are_split_by_a_divisor_where_there_is_one_and_not_at_all_if_short() -> None:
    assert 32000 % block_width(32000, 8) == 0
    assert block_width(2999, 8) == 19
    assert block_width(512, 8) == 8
    assert block_width(511, 8) is None
    assert block_width(32000, 1000) is None


def test_other_rows_and_unknown_numbers_of_rows_change_nothing() -> None:
    logits = np.random.default_rng(0).normal(size=(5, 2, 700)).astype("float32")

    @tf.function(input_signature=[tf.TensorSpec((None, None, 700))])
    def found(logits: Any) -> Any:
        return likeliest(logits, 4)

    together = found(logits)
    for name, row in enumerate(logits):
        for whole, part in zip(together, found(row[None]), strict=True):
            np.testing.assert_allclose(whole[name], part[0], rtol=1e-6)


@pytest.mark.parametrize("xla", [False, True])
@pytest.mark.parametrize("count", [1, 4])
def test_normalizers_are_those_of_float64(xla: bool, count: int) -> None:
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(4, 1000)) * np.array([[0.0], [1.0], [10.0], [100.0]])
    logits[1, 1:] = -np.inf
    logits[3] += 1e4
    logits = logits.astype("float32")
    actual = found_by(logits, count, xla=xla).normalizer
    exact = logits.astype("float64")
    shift = exact.max(-1, keepdims=True)
    expected = np.log(np.exp(exact - shift).sum(-1)) + shift[:, 0]
    np.testing.assert_allclose(actual, expected, rtol=2e-6)


@pytest.mark.parametrize("xla", [False, True])
@pytest.mark.parametrize("vocab", [3000, 2999])
def test_what_is_no_number_makes_the_normalizer_none(xla: bool, vocab: int) -> None:
    logits = np.zeros((4, vocab), "float32")
    logits[1, 50] = logits[2, -1] = logits[3] = np.nan
    found = found_by(logits, 8, xla=xla)
    np.testing.assert_array_equal(np.isnan(found.normalizer), [False, True, True, True])
    assert (np.asarray(found.tokens) >= 0).all()
    assert (np.asarray(found.tokens) < vocab).all()


def test_one_logit_of_each_row_is_read() -> None:
    logits = np.random.default_rng(0).normal(size=(2, 3, 5)).astype("float32")
    tokens = np.array([[4, 0, 2], [1, 1, 3]], "int32")
    actual = logits_of(ops.convert_to_tensor(logits), ops.convert_to_tensor(tokens))
    expected = np.take_along_axis(logits, tokens[..., None], axis=-1)[..., 0]
    np.testing.assert_array_equal(actual, expected)
