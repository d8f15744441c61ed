"""Every registered set of multi-granularity self-attention, made small, is exact in every way."""

from __future__ import annotations

import functools
import importlib.util
import pathlib

import numpy as np
import pytest
from exact_models import (
    OPTIONS,
    TARGETS,
    VOCAB,
    assert_alone_equals_batched,
    assert_graph_and_xla_equal_eager,
    assert_searches_agree,
    assert_steps_equal_the_whole,
    batch_of,
    random_sources,
)
from random_weights import randomize
from small_phrase_models import granularity_sets, granularity_structures, small_set
from under_backend import assert_same_under

from t2t_phrase import registry
from t2t_phrase.features import MOST_TAG_LEVELS, TAG_CLASSES
from t2t_phrase.models.multi_granularity import MultiGranularityTransformer


def levels_of(tokens: int) -> list[int]:
    """Return random levels, the same for all sentences of one length."""
    rng = np.random.default_rng(tokens)
    return [1, *rng.choice([1, 2, 3, 4, 21], size=max(tokens - 2, 0)).tolist(), 1][:tokens]


def tags_of(tokens: int) -> list[int]:
    """Return random labels; EOS has none."""
    rng = np.random.default_rng(tokens)
    return [*rng.integers(1, TAG_CLASSES**MOST_TAG_LEVELS, size=tokens - 1).tolist(), 0]


DISTINCT = granularity_structures()
SOURCES = random_sources([1, 2, 11])
NUMBERS = {"levels": levels_of, "tags": tags_of}
FEATURES = batch_of(SOURCES, TARGETS[:3], NUMBERS)


@functools.cache
def model_of(name: str) -> MultiGranularityTransformer:
    model = MultiGranularityTransformer.from_hparams(small_set(name), vocab_size=VOCAB)
    randomize(model, seed=len(name))
    return model


def test_the_structures_are_those_of_the_papers_rows() -> None:
    sets = granularity_sets()
    assert sets == [name for name in registry.hparams if name.startswith("mgsa_")]
    assert len(DISTINCT) < len(sets) / 2
    assert {small_set(name).composition for name in DISTINCT} == {"max", "lstm", "attention"}
    assert {small_set(name).interaction for name in DISTINCT} == {"none", "lstm", "on_lstm"}
    layers = {small_set(name).granularity_layers for name in DISTINCT}
    assert layers == {tuple(range(1, last + 1)) for last in range(1, 7)}


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTINCT)
def test_a_graph_xla_and_searches_give_the_same(name: str) -> None:
    model = model_of(name)
    assert_alone_equals_batched(model, SOURCES, TARGETS[:3], NUMBERS)
    assert_steps_equal_the_whole(model, FEATURES)
    assert_graph_and_xla_equal_eager(model, FEATURES)
    assert_searches_agree(model, FEATURES)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.parametrize("name", DISTINCT)
def test_jax_equals_tensorflow(name: str, tmp_path: pathlib.Path) -> None:
    assert_same_under({name: model_of(name)}, FEATURES, OPTIONS, tmp_path)
