"""Luong's models against loops of float64 arithmetic, and their hyperparameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import reference_lstm
import reference_luong
from exact_models import VOCAB, padded
from random_weights import randomize

from t2t_phrase import registry
from t2t_phrase.config import HParamsError
from t2t_phrase.layers.attention.layout import AttentionMap, Layout
from t2t_phrase.models.luong import Luong
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.models.parameter_count import count_parameters

registry.discover()

SOURCES = [[4, 7, 9, 3, 1], [5, 1]]
TARGETS = [[8, 3, 6, 1], [9, 1]]
FEATURES = {"inputs": padded(SOURCES), "targets": padded(TARGETS)}


def make(**options: Any) -> Luong:
    hparams = LuongHParams(hidden_size=4, num_hidden_layers=2, label_smoothing=0.0, **options)
    model = Luong.from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, deviation=0.6)
    return model


def by_loops(model: Luong, row: int) -> tuple[np.ndarray, Any]:
    """Return the log-probabilities (T, V) of a sentence, and its attention weights."""
    hparams = model.hparams
    named = {
        v.path.removeprefix("luong/"): np.asarray(v, "float64") for v in model.trainable_variables
    }

    def below(prefix: str) -> dict[str, np.ndarray]:
        start = f"{prefix}/"
        return {k.removeprefix(start): v for k, v in named.items() if k.startswith(start)}

    states: list[Any] = []
    x = [named["source_embedding/embeddings"][token] for token in SOURCES[row]]
    for number in range(hparams.num_hidden_layers):
        prefix = f"encoder_layer_{number}"
        if hparams.encoder_reads == "both":
            forwards, end = reference_lstm.run(x, below(f"{prefix}/forwards"))
            backwards, start = reference_lstm.run(x, below(f"{prefix}/backwards"), reverse=True)
            x = [np.array([*a, *b]) for a, b in zip(forwards, backwards, strict=True)]
            states.append(tuple([*a, *b] for a, b in zip(end, start, strict=True)))
        else:
            reverse = hparams.encoder_reads == "backwards"
            x, state = reference_lstm.run(x, below(prefix), reverse=reverse)
            states.append(state)
    embedded = [named["target_embedding/embeddings"][token] for token in TARGETS[row][:-1]]
    inputs = [np.zeros(hparams.hidden_size), *embedded]
    layers = [below(f"decoder/layer_{number}") for number in range(hparams.num_hidden_layers)]
    weights = None
    if hparams.attention == "none":
        hidden = inputs
        for layer, state in zip(layers, states, strict=True):
            hidden, _ = reference_lstm.run(hidden, layer, state=state)
    else:
        hidden, weights = reference_luong.decode(
            inputs,
            x,
            layers,
            below("decoder/attention"),
            state=states,
            feeding=hparams.input_feeding,
            kind=hparams.attention_score,
            attention=hparams.attention,
            window=hparams.attention_window,
            positions=hparams.attention_positions,
        )
    logits = np.array(hidden) @ named["softmax/embeddings"].T
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)), weights


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"encoder_reads": "both", "attention": "global", "attention_score": "concat"},
        {
            "encoder_reads": "backwards",
            "attention": "local_p",
            "attention_score": "general",
            "attention_window": 1,
            "input_feeding": True,
        },
    ],
)
def test_equals_loops(options: dict[str, Any]) -> None:
    model = make(**options)
    logits, scores = model(FEATURES), model.token_log_probabilities(FEATURES)
    loss = model.batch_loss(FEATURES)
    total = 0.0
    for row, targets in enumerate(TARGETS):
        expected, weights = by_loops(model, row)
        actual = np.asarray(logits)[row, : len(targets)]
        actual = actual - np.log(np.exp(actual).sum(axis=-1, keepdims=True))
        np.testing.assert_allclose(actual, expected, atol=1e-5)
        own = expected[np.arange(len(targets)), targets]
        np.testing.assert_allclose(scores[row, : len(targets)], own, atol=1e-5)
        total -= own.sum()
        if weights is not None:
            (found,) = model.attention_weights(FEATURES)["cross"]
            shape = (len(targets), len(SOURCES[row]))
            np.testing.assert_allclose(found[row, 0, : shape[0], : shape[1]], weights, atol=1e-5)
    np.testing.assert_allclose(loss.objective, total, rtol=1e-5)
    assert float(loss.means["nll"].count) == 6


def test_attention_maps() -> None:
    assert make().attention_maps() == make().attention_weights(FEATURES) == {}
    expected = AttentionMap("attention", "target", "source", (Layout(num_heads=1),))
    assert make(attention="global").attention_maps() == {"cross": expected}


def test_dropout_is_only_for_training_and_falls_on_the_softmax_too() -> None:
    model = make(dropout=0.5, attention="global", input_feeding=True)
    plain = make(attention="global", input_feeding=True)
    plain.set_weights([np.asarray(v) for v in model.trainable_variables])
    assert float(model.batch_loss(FEATURES).objective) == float(
        plain.batch_loss(FEATURES).objective
    )
    drawn = {float(model.batch_loss(FEATURES, training=True).objective) for _ in range(3)}
    assert len(drawn) == 3
    hidden = model.output_dropout(np.ones((1, 1, 400), "float32"), training=True)
    assert 0.35 < np.mean(np.asarray(hidden) == 0) < 0.65


def test_logits_in_training_have_the_dropout_of_the_softmax(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = make(dropout=0.5)
    monkeypatch.setattr(model, "output_dropout", lambda x, training: 0 * x if training else x)
    assert not np.any(model(FEATURES, training=True))
    assert np.any(model(FEATURES))


def test_all_weights_start_uniform_in_the_range() -> None:
    hparams = registry.hparams["luong_base_local_p_general_feed"]().replace(hidden_size=40)
    model = Luong.from_hparams(hparams, vocab_size=50)
    kernels = [np.asarray(v) for v in model.trainable_variables]
    assert all(np.abs(kernel).max() <= 0.1 for kernel in kernels)
    everything = np.concatenate([kernel.ravel() for kernel in kernels])
    assert abs(everything.std() - 0.1 / math.sqrt(3)) < 0.001
    usual = Luong.from_hparams(hparams.replace(initial_range=0.0), vocab_size=50)
    bias = np.asarray(usual.encoder_layers[0].bias)
    np.testing.assert_array_equal(bias, np.repeat([0.0, 1.0, 0.0, 0.0], 40))


def test_the_papers_recipe() -> None:
    sets = [registry.hparams[f"luong_base{row}"]() for row in ("", "_dropout")]
    for hparams, epochs in zip(sets, (5, 8), strict=True):
        assert (hparams.num_hidden_layers, hparams.hidden_size) == (4, 1000)
        assert (hparams.optimizer, hparams.learning_rate_constant) == ("sgd", 1.0)
        assert (hparams.clip_grad_norm, hparams.gradient_mean) == (5.0, "sentences")
        assert (hparams.initial_range, hparams.label_smoothing) == (0.1, 0.0)
        assert hparams.learning_rate_halving_start == epochs * hparams.learning_rate_halving_steps
    local = registry.hparams["luong_base_local_p_general_feed"]()
    assert (local.attention_window, local.dropout, local.encoder_reads) == (10, 0.2, "backwards")


def test_parameters_are_those_of_the_equations() -> None:
    size, words = 1000, 50_000
    lstm = 4 * size * (2 * size + 1)
    base = 3 * words * size + 8 * lstm
    more = {
        "": 0,
        "_global_location": 51 * size + 2 * size**2,
        "_feed": 51 * size + 6 * size**2,
        "_local_p_general_feed": 8 * size**2 + size,
    }
    for row, own in more.items():
        hparams = registry.hparams[f"luong_base{row}"]()
        assert count_parameters(hparams, vocab_size=words) == base + own


def test_vocabularies_of_different_sizes() -> None:
    hparams = LuongHParams(hidden_size=4, num_hidden_layers=1, attention="global")
    model = Luong.from_hparams(hparams, vocab_size=VOCAB, target_vocab_size=12)
    assert model(FEATURES).shape == (2, 4, 12)
    assert model.source_states(FEATURES).shape == (2, 5, 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ("hidden_size=0", "hidden_size: must be at least 1, got 0"),
        ("dropout=1", r"dropout: must be in \[0, 1\), got 1.0"),
        ("initial_range=-1", "initial_range: must not be negative, got -1.0"),
        ("encoder_reads=both,hidden_size=5", "hidden_size=5: must be even with encoder_reads=both"),
        ("input_feeding=true", "input_feeding=True: attention=none does not read it"),
        ("attention_score=concat", "attention_score=concat: attention=none does not read it"),
        ("attention=local_m", "attention_window: must be at least 1 with attention=local_m or loc"),
        ("attention_window=3", "attention_window=3: only attention=local_m or local_p reads it"),
        (
            "attention=local_p,attention_score=location,attention_window=2",
            "attention_score=location: attention=local_p cannot score windows with it",
        ),
        (
            "attention=global,attention_score=location",
            "attention_positions: must be at least 1 with attention_score=location, got 0",
        ),
        (
            "attention=global,attention_positions=9",
            "attention_positions=9: only attention_score=location reads it",
        ),
    ],
)
def test_a_mistake_in_the_options(changes: str, message: str) -> None:
    with pytest.raises(HParamsError, match=message):
        LuongHParams().override(changes)
