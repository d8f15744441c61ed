"""Every registered set of Luong's models, made small, is exact in every way."""

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
    in_bfloat16,
    random_sources,
)
from mostly_slow import mostly_slow
from random_weights import randomize
from small_luong_models import luong_sets, small_set, structures
from tiny_training import make_stepper
from under_backend import assert_same_under

from t2t_phrase import registry
from t2t_phrase.models.luong import Luong
from t2t_phrase.models.luong_hparams import LuongHParams

STRUCTURES = structures()
SOURCES = random_sources([1, 2, 11])
FEATURES = batch_of(SOURCES, TARGETS[:3], {})
# What no set has: the other kinds and scores.
OTHERS = {
    "local_m_concat": {"attention": "local_m", "attention_window": 2, "attention_score": "concat"},
    "global_dot": {"attention": "global", "input_feeding": True, "encoder_reads": "backwards"},
}
ALL = [*STRUCTURES, *OTHERS]
FEW = mostly_slow(
    ["luong_base_feed", "luong_base_local_p_general_feed", "local_m_concat"],
    "luong_base_local_p_general_feed",
)


def made(name: str) -> Luong:
    sizes = {"hidden_size": 8, "num_hidden_layers": 2}
    hparams = LuongHParams(**sizes, **OTHERS[name]) if name in OTHERS else small_set(name)
    return Luong.from_hparams(hparams.replace(dropout=0.0), vocab_size=VOCAB)


@functools.cache
def model_of(name: str) -> Luong:
    model = made(name)
    randomize(model, seed=len(name), deviation=0.4)
    return model


def test_there_is_a_set_for_every_row_in_every_size() -> None:
    rows = ["reverse", "dropout", "global_location", "feed", "local_p_general_feed", "unk_replace"]
    expected = {"luong_base", *(f"luong_base_{row}" for row in rows)}
    for size in ("multi30k", "demo"):
        expected |= {f"luong_{size}", *(f"luong_{row}_{size}" for row in rows)}
    families = ("luong_", "rnn_attention_")
    assert expected <= set(luong_sets()) == {n for n in registry.hparams if n.startswith(families)}
    assert len(STRUCTURES) == 7


@pytest.mark.parametrize("name", FEW)
def test_a_sentence_is_the_same_alone_and_step_by_step(name: str) -> None:
    model = model_of(name)
    assert_alone_equals_batched(model, SOURCES, TARGETS[:3], {})
    assert_steps_equal_the_whole(model, FEATURES, beam_size=2, length=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_a_graph_xla_and_searches_give_the_same(name: str) -> None:
    model = model_of(name)
    assert_alone_equals_batched(model, SOURCES, TARGETS[:3], {})
    assert_steps_equal_the_whole(model, FEATURES)
    assert_graph_and_xla_equal_eager(model, FEATURES)
    assert_searches_agree(model, FEATURES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rnn_attention_base", *(n for n in ALL if n[0] != "r")])
def test_an_update_under_xla_is_that_of_a_graph(name: str) -> None:
    # A stepper traces for sizes that it does not know yet, unlike the searches above.
    batch = {name: np.concatenate([FEATURES[name]] * 2) for name in ("inputs", "targets")}
    found = []
    for xla in (False, True):
        stepper = make_stepper(make_model=lambda *_: made(name), parts=2, xla=xla)
        losses = [float(stepper.train(batch).objective) for _ in range(3)]
        assert len(set(losses)) == 3
        found.append(losses)
    np.testing.assert_allclose(*found, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_bfloat16_comes_close(name: str) -> None:
    mixed = in_bfloat16(model_of(name), FEATURES)
    assert_alone_equals_batched(mixed, SOURCES[2:], TARGETS[2:3], {})


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
def test_jax_equals_tensorflow(tmp_path: pathlib.Path) -> None:
    assert_same_under({name: model_of(name) for name in ALL}, FEATURES, OPTIONS, tmp_path)
