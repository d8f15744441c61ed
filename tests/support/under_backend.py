"""Holds models on another backend, in a process without TensorFlow, against TensorFlow."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from backend_process import run_under

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import translate_ids

_SCRIPT = """
import importlib, json
import keras, numpy as np
from t2t_phrase import registry
from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.ops import cross_entropy
from t2t_phrase.ops.row_blocks import RowBlocks

# Every batch is then many blocks here, and one in the process of the test.
cross_entropy.blocks_of_tokens = lambda tokens, vocab_size: RowBlocks(tokens, 3, undivided=3)
source, target, models, options = sys.argv[1:]
given, results = np.load(source), {}
features = {
    key.split("/")[1]: keras.ops.convert_to_tensor(given[key])
    for key in given
    if key.startswith("features/")
}
searched = {key: ids for key, ids in features.items() if key != "targets"}
options = DecodeHParams.from_dict(json.loads(options))


def by_jax(model):
    import jax

    def forward(values):
        state = list(zip(model.trainable_variables, values, strict=True))
        with keras.StatelessScope(state_mapping=state):
            return model.batch_loss(features).objective, model(features)

    values = [variable.value for variable in model.trainable_variables]
    (loss, logits), gradients = jax.jit(jax.value_and_grad(forward, has_aux=True))(values)
    return loss, logits, gradients


def by_torch(model):
    loss = model.batch_loss(features).objective
    loss.backward()
    return loss, model(features), [variable.value.grad for variable in model.trainable_variables]


differentiate = {"jax": by_jax, "torch": by_torch}[keras.backend.backend()]
for name, (module, kind, hparams, vocab_size) in json.loads(models).items():
    importlib.import_module(module)
    made = registry.models[kind]
    model = made.from_hparams(made.hparams_class.from_dict(hparams), vocab_size=vocab_size)
    for variable in model.trainable_variables:
        variable.assign(given[f"{name}/{variable.path}"])

    loss, logits, gradients = differentiate(model)
    found = compiled(lambda features: translate_ids(model, features, options))(searched)
    results |= {f"{name}:loss": loss, f"{name}:logits": logits}
    results |= {f"{name}:ids": found.ids, f"{name}:scores": found.scores}
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        results[f"{name}:{variable.path}"] = gradient
as_numpy = keras.ops.convert_to_numpy
np.savez(target, **{key.replace("/", "|"): as_numpy(value) for key, value in results.items()})
"""


def gradients_of(model: Any, features: Mapping[str, Any]) -> list[Any]:
    """Return the gradient of the summed loss for every trainable variable."""
    with tf.GradientTape() as tape:
        loss = model.batch_loss(features).objective
    found = tape.gradient(loss, [v.value for v in model.trainable_variables])
    return [tf.convert_to_tensor(gradient) for gradient in found]


def assert_same_under(
    models: Mapping[str, Any],
    features: Mapping[str, np.ndarray],
    options: DecodeHParams,
    folder: pathlib.Path,
    *,
    backend: str = "jax",
) -> None:
    """Check logits, loss, every gradient and the beams of each model.

    Args:
        models: by any name.
        features: what all of them read, "targets" too.
        options: of the search.
        folder: an empty one.
        backend: "jax" or "torch".
    """
    given = {f"features/{key}": value for key, value in features.items()}
    for name, model in models.items():
        given |= {f"{name}/{v.path}": np.asarray(v) for v in model.trainable_variables}
    np.savez(folder / "given.npz", **given)
    told = {
        name: (
            type(model).__module__,
            model.hparams.model,
            model.hparams.to_dict(),
            model.vocab_size,
        )
        for name, model in models.items()
    }
    arguments = (folder / "given.npz", folder / "found.npz", json.dumps(told), options.to_json())
    run_under(_SCRIPT, *arguments, backend=backend)
    theirs = np.load(folder / "found.npz")
    searched = {key: ids for key, ids in features.items() if key != "targets"}
    for name, model in models.items():
        np.testing.assert_allclose(theirs[f"{name}:logits"], model(features), atol=1e-5)
        loss = model.batch_loss(features).objective
        np.testing.assert_allclose(theirs[f"{name}:loss"], loss, rtol=1e-5)
        gradients = gradients_of(model, features)
        for variable, expected in zip(model.trainable_variables, gradients, strict=True):
            scale = max(1e-3, np.abs(expected).max())
            actual = theirs[f"{name}:{variable.path}".replace("/", "|")]
            np.testing.assert_allclose(
                actual / scale, expected / scale, atol=1e-5, err_msg=f"{name}: {variable.path}"
            )
        found = compiled(lambda given, model=model: translate_ids(model, given, options))(searched)
        np.testing.assert_array_equal(theirs[f"{name}:ids"], found.ids)
        np.testing.assert_allclose(theirs[f"{name}:scores"], found.scores, atol=1e-4)
