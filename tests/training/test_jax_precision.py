"""With JAX, gradients in bfloat16 are those in float32, over any number of tokens."""

from __future__ import annotations

import json

import pytest
from jax_process import needs_jax, run_under_jax

# Sets whose layers look up rows of tables, and add biases of cells and of heads.
SETS = {
    "phrase_homogeneous_queryk_2_2_multi30k": (
        "num_hidden_layers=1,hidden_size=32,max_relative_position=4,pos=none"
    ),
    "mgsa_ngram_lstm_multi30k": "num_hidden_layers=1,hidden_size=32",
    "alignment_assisted_rnn_multi30k": "hidden_size=32",
    "luong_local_p_general_feed_multi30k": "hidden_size=32",
}
SCRIPT = """
import json
import jax, keras, numpy as np
from t2t_phrase import registry

registry.discover()
path, sets = sys.argv[1], json.loads(sys.argv[2])


def gradients(name, changes, dtype):
    hparams = registry.hparams[name]().override(changes).replace(dtype_policy=dtype)
    keras.utils.set_random_seed(0)
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=16)
    draws = np.random.default_rng(0)
    # Most tokens are the same, so that its gradient has many equal terms.
    features = {side: draws.choice([5, 5, 5, 7], (128, 24)) for side in ("inputs", "targets")}
    for feature in hparams.training_features:
        features[feature.name] = np.zeros((128, 24), "int32")

    def loss(values):
        state = list(zip(model.trainable_variables, values))
        with keras.StatelessScope(state_mapping=state):
            return model.batch_loss(features, training=False).objective

    found = jax.jit(jax.grad(loss))([v.value for v in model.trainable_variables])
    return {v.path: np.asarray(g, "float64") for v, g in zip(model.trainable_variables, found)}


ratios = {}
for name, changes in sets.items():
    exact, rounded = (gradients(name, changes, d) for d in ("float32", "mixed_bfloat16"))
    norms = {path: np.linalg.norm(gradient) for path, gradient in exact.items()}
    ratios[name] = {
        path: np.linalg.norm(rounded[path] - exact[path]) / norm
        for path, norm in norms.items()
        # Gradients that vanish are rounding errors themselves.
        if norm > 1e-3 * max(norms.values())
    }
with open(path, "w") as file:
    json.dump(ratios, file)
"""


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, float]]:
    """Return the error of each variable's gradient, relative to its norm, by set and path."""
    path = tmp_path_factory.mktemp("precision") / "errors"
    run_under_jax(SCRIPT, path, json.dumps(SETS))
    return json.loads(path.read_text())


@needs_jax
@pytest.mark.parametrize("name", SETS)
def test_gradients_do_not_stagnate(name: str, errors: dict[str, dict[str, float]]) -> None:
    assert len(errors[name]) > 5
    worst = max(errors[name], key=lambda path: errors[name][path])
    assert errors[name][worst] < 0.1, worst
