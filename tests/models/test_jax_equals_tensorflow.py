"""Same weights, same sentences: JAX in a process without TensorFlow against TensorFlow."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search import translate_ids

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("jax") is None, reason="jax is not installed"
)

UNDER_JAX = """
import json, os, sys
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_PLATFORMS"] = "cpu"
sys.modules["tensorflow"] = None
import jax, keras, numpy as np
from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search import translate_ids
from t2t_phrase.models.transformer import Transformer, TransformerHParams

source, target, hparams, vocab_size = sys.argv[1:]
given = np.load(source)
hparams = TransformerHParams.from_dict(json.loads(hparams))
model = Transformer.from_hparams(hparams, vocab_size=int(vocab_size))
for variable in model.trainable_variables:
    variable.assign(given["weights/" + variable.path])
features = {name: given[name] for name in ("inputs", "targets")}

def forward(values):
    state = list(zip(model.trainable_variables, values, strict=True))
    with keras.StatelessScope(state_mapping=state):
        return model.loss_sums(features)["loss"], model(features)

values = [variable.value for variable in model.trainable_variables]
(loss, logits), gradients = jax.jit(jax.value_and_grad(forward, has_aux=True))(values)
results = {"loss": loss, "logits": logits}
for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
    results["gradients/" + variable.path] = gradient
options = DecodeHParams(beam_size=3, max_length=8, return_beams=True)
results["ids"], results["scores"] = compiled(
    lambda inputs: translate_ids(model, {"inputs": inputs}, options)
)(features["inputs"])
np.savez(target, **results)
"""


@pytest.mark.parametrize("twins", ["post_norm", "relative", "unshared"], indirect=True)
def test_logits_loss_gradients_and_beams(
    twins: Any, features: dict, tmp_path: pathlib.Path
) -> None:
    model = twins.model
    weights = {f"weights/{v.path}": np.asarray(v) for v in model.trainable_variables}
    np.savez(tmp_path / "given.npz", **weights, **features)
    paths = [str(tmp_path / "given.npz"), str(tmp_path / "results.npz")]
    environment = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"}
    result = subprocess.run(
        [sys.executable, "-c", UNDER_JAX, *paths, model.hparams.to_json(), str(model.vocab_size)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    under_jax = np.load(paths[1])

    np.testing.assert_allclose(under_jax["logits"], model(features), atol=1e-5)
    with tf.GradientTape() as tape:
        loss = model.loss_sums(features)["loss"]
    np.testing.assert_allclose(under_jax["loss"], loss, rtol=1e-5)
    gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        expected = tf.convert_to_tensor(gradient).numpy()
        actual = under_jax[f"gradients/{variable.path}"]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            actual / scale, expected / scale, atol=1e-5, err_msg=variable.path
        )
    options = DecodeHParams(beam_size=3, max_length=8, return_beams=True)
    found = translate_ids(model, {"inputs": features["inputs"]}, options)
    np.testing.assert_array_equal(under_jax["ids"], found.ids)
    np.testing.assert_allclose(under_jax["scores"], found.scores, atol=1e-4)
