"""With JAX, gradients in bfloat16 are those in float32, over any number of tokens."""

from __future__ import annotations

import json
import pathlib

import pytest
from backend_process import needs_jax, run_under

SMALL = "hidden_size=16,num_hidden_layers=1"
# Sets whose layers look up rows of tables, and add biases of cells and of heads.
SETS = {
    "phrase_homogeneous_queryk_2_2_multi30k": f"{SMALL},max_relative_position=4,pos=none",
    "luong_local_p_general_feed_multi30k": SMALL,
}
MORE_SETS = {"mgsa_ngram_lstm_multi30k": SMALL, "alignment_assisted_rnn_multi30k": SMALL}
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


errors = {}
for name, changes in sets.items():
    exact, rounded = (gradients(name, changes, d) for d in ("float32", "mixed_bfloat16"))
    norms = {path: np.linalg.norm(gradient) for path, gradient in exact.items()}
    errors[name] = {
        path: np.linalg.norm(rounded[path] - exact[path]) / norm
        for path, norm in norms.items()
        # Gradients that vanish are rounding errors themselves.
        if norm > 1e-3 * max(norms.values())
    }
with open(path, "w") as file:
    json.dump(errors, file)
"""


@pytest.mark.slow
@needs_jax
@pytest.mark.parametrize("sets", [SETS, MORE_SETS])
def test_gradients_do_not_stagnate(sets: dict[str, str], tmp_path: pathlib.Path) -> None:
    run_under(SCRIPT, tmp_path / "errors", json.dumps(sets))
    # For each set and variable, the error of its gradient relative to its norm.
    by_set: dict[str, dict[str, float]] = json.loads((tmp_path / "errors").read_text())
    assert by_set.keys() == sets.keys()
    for errors in by_set.values():
        assert len(errors) > 5
        worst = max(errors, key=lambda path: errors[path])
        assert errors[worst] < 0.1, worst
