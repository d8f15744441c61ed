"""R-Drop and word dropout of both kinds of models, against float64 and their own slow twins."""

from __future__ import annotations

import functools
import math
from typing import Any

import keras
import numpy as np
import pytest
from exact_models import VOCAB, padded
from mostly_slow import mostly_slow
from random_weights import randomize
from tiny_training import make_stepper, weights

from t2t_phrase import registry
from t2t_phrase.config import HParamsError
from t2t_phrase.models.base import EncoderDecoder

registry.discover()

FEATURES = {
    "inputs": padded([[4, 7, 9, 3, 1], [5, 1], [6, 6, 8, 1], [3, 1]]),
    "targets": padded([[8, 3, 6, 1], [9, 1], [7, 1], [5, 4, 4, 4, 3, 1]]),
}
SIZES = {
    "transformer_tiny": "hidden_size=8,filter_size=16,num_heads=2,num_hidden_layers=1",
    "luong_base_dropout": "hidden_size=8,num_hidden_layers=1",
    "phrase_interleaved_queryk_1_2_demo": (
        "hidden_size=8,filter_size=16,num_heads=2,num_hidden_layers=1"
    ),
}
DROPOUT = {
    "luong_base_dropout": "dropout=0.3",
    "transformer_tiny": "layer_prepostprocess_dropout=0.3",
    "phrase_interleaved_queryk_1_2_demo": "layer_prepostprocess_dropout=0.3",
}


def make(name: str, options: str = "") -> EncoderDecoder:
    hparams = registry.hparams[name]().override(f"{SIZES[name]},{options}".rstrip(","))
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, deviation=0.5)
    return model


def seeded(model: EncoderDecoder, function: Any) -> Any:
    """Return what a function computes with known random states."""
    states = [v for v in model.non_trainable_variables if v.name == "seed_generator_state"]
    mapping = [(state, np.array([7, 1024 * i], state.dtype)) for i, state in enumerate(states)]
    with keras.StatelessScope(state_mapping=mapping):
        return function()


def by_loops(logits: np.ndarray, targets: np.ndarray, smoothing: float, alpha: float) -> tuple:
    """Return the sums of R-Drop's objective and of the divergence, from logits (2B, T, V)."""
    rows, length, size = targets.shape[0], targets.shape[1], logits.shape[-1]
    objective = divergence = 0.0
    low = smoothing / (size - 1)
    entropy = -(1 - smoothing) * math.log(1 - smoothing)
    entropy -= (size - 1) * low * math.log(low) if low else 0.0
    for b in range(rows):
        for t in range(length):
            if not targets[b, t]:
                continue
            logs = []
            for row in (b, rows + b):
                z = logits[row, t].astype("float64")
                logs.append(z - z.max() - math.log(np.exp(z - z.max()).sum()))
                for v in range(size):
                    share = 1 - smoothing if v == targets[b, t] else low
                    objective -= share * logs[-1][v] / 2
                objective -= entropy / 2
            p, q = np.exp(logs[0]), np.exp(logs[1])
            own = sum((p[v] - q[v]) * (logs[0][v] - logs[1][v]) for v in range(size)) / 2
            divergence += own
            objective += alpha / 2 * own
    return objective, divergence


@pytest.mark.parametrize("name", SIZES)
def test_r_drop_is_its_equation(name: str) -> None:
    model = make(name, f"r_drop=3.0,{DROPOUT[name]}")
    double = {key: np.concatenate([value, value]) for key, value in FEATURES.items()}
    logits = np.asarray(seeded(model, lambda: _training_logits(model, double)))
    assert np.abs(logits[:4] - logits[4:]).max() > 0.01
    loss = seeded(model, lambda: model.batch_loss(FEATURES, training=True))
    smoothing = model.hparams.label_smoothing
    objective, divergence = by_loops(logits, FEATURES["targets"], smoothing, 3.0)
    assert float(loss.objective) == pytest.approx(objective, rel=1e-4)
    count = np.count_nonzero(FEATURES["targets"])
    assert float(loss.means["divergence"].total) == pytest.approx(divergence, rel=1e-3)
    assert {float(mean.count) for mean in loss.means.values()} == {count}
    # Development sets are scored without it.
    assert "divergence" not in model.batch_loss(FEATURES).means


def _training_logits(model: Any, features: Any) -> Any:
    """Return the logits that the loss of a training step is computed from."""
    if not hasattr(model, "output_dropout"):
        return model(features, training=True)
    hidden, _ = model.decode(features, model.encode(features, True), True)
    hidden = model.output_dropout(hidden, training=True)
    return keras.ops.matmul(hidden, keras.ops.transpose(model.softmax.kernel))


@pytest.mark.parametrize("name", SIZES)
def test_where_nothing_is_dropped_both_passes_agree(name: str) -> None:
    none = {
        "luong_base_dropout": "dropout=0",
    }.get(name, "attention_dropout=0,relu_dropout=0,layer_prepostprocess_dropout=0")
    # Without any dropout, R-Drop is refused; this one is rounded to 0.
    plain, twice = make(name, none), make(name, f"r_drop=5,{none},source_word_dropout=1e-9")
    expected = plain.batch_loss(FEATURES, training=True)
    found = twice.batch_loss(FEATURES, training=True)
    assert float(found.means["divergence"].total) == pytest.approx(0, abs=1e-5)
    assert float(found.objective) == pytest.approx(float(expected.objective), rel=1e-5)


@pytest.mark.parametrize("name", mostly_slow(SIZES, "phrase_interleaved_queryk_1_2_demo"))
def test_words_are_dropped_on_the_side_that_asks_for_it(name: str) -> None:
    none = {
        "luong_base_dropout": "dropout=0",
    }.get(name, "attention_dropout=0,relu_dropout=0,layer_prepostprocess_dropout=0")
    plain = make(name, none)
    for side, ids in (("source", "inputs"), ("target", "targets")):
        model = make(name, f"{side}_word_dropout=0.5,{none}")
        found = seeded(model, lambda model=model: model(FEATURES, training=True))
        layer = getattr(model, f"{side}_word_dropout")
        drop = functools.partial(layer, FEATURES[ids], training=True)
        dropped = np.asarray(seeded(model, drop))
        assert (dropped != FEATURES[ids]).any()
        expected = plain({**FEATURES, ids: dropped})
        np.testing.assert_allclose(found, expected, atol=1e-5)
        # The labels are those of the text.
        loss = seeded(model, lambda model=model: model.batch_loss(FEATURES, training=True))
        real = FEATURES["targets"] != 0
        logs = np.asarray(keras.ops.log_softmax(expected))
        nll = -np.take_along_axis(logs, FEATURES["targets"][..., None], -1)[..., 0][real].sum()
        assert float(loss.means["nll"].total) == pytest.approx(nll, rel=1e-4)
        np.testing.assert_allclose(model(FEATURES), plain(FEATURES), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("xla", [False, True])
def test_training_repeats_itself(xla: bool) -> None:
    options = "r_drop=1,source_word_dropout=0.2,target_word_dropout=0.2"
    made = []
    for _ in range(2):
        stepper = make_stepper(make_model=lambda *_: make("transformer_tiny", options), xla=xla)
        results = [stepper.train(FEATURES) for _ in range(3)]
        made.append((weights(stepper), [float(result.objective) for result in results]))
    (first, objectives), (second, again) = made
    assert objectives == again
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("transformer_tiny", "source_word_dropout=1", "source_word_dropout: must be in"),
        ("luong_base", "target_word_dropout=-0.1", "target_word_dropout: must be in"),
        ("transformer_tiny", "r_drop=-1", "r_drop: must not be negative"),
        ("alignment_model_demo", "r_drop=1", "r_drop=1.0: an alignment model"),
        ("transformer_demo", "r_drop=3", "r_drop=3.0: without any dropout, both passes are the"),
        ("luong_base", "r_drop=3", "r_drop=3.0: without any dropout"),
    ],
)
def test_values_of_no_use_are_refused(name: str, options: str, message: str) -> None:
    with pytest.raises(HParamsError, match=message):
        registry.hparams[name]().override(options)
