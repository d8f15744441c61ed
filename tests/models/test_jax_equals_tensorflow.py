"""Same weights, same sentences: JAX in a process without TensorFlow against TensorFlow."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import pytest
from under_backend import assert_same_under

from t2t_phrase.decoding.hparams import DecodeHParams

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="jax is not installed"
)


@pytest.mark.parametrize("twins", ["relative"], indirect=True)
def test_logits_loss_gradients_and_beams(
    twins: Any, features: dict, tmp_path: pathlib.Path
) -> None:
    options = DecodeHParams(
        beam_size=4,
        num_groups=2,
        diversity_strength=0.5,
        coverage_penalty=0.3,
        no_repeat_ngram_size=2,
        token_probabilities=True,
        max_length=8,
        return_beams=True,
    )
    assert_same_under({"twin": twins.model}, features, options, tmp_path)
