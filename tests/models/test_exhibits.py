"""What models show of a sentence pair beside their attention weights."""

from __future__ import annotations

import math

import numpy as np
import pytest
from random_weights import randomize
from small_phrase_models import LEVELS_OF_TREES, REPRESENTATIONS, SMALL
from tiny_pair import make_pair

from t2t_phrase import registry
from t2t_phrase.features import TAG_CLASSES
from t2t_phrase.layers.attention.layout import Units
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.models.jump_exhibits import jump_exhibits
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.ops.jumps import CLASSES, MOST

registry.discover()
FEATURES = {
    "inputs": np.array([[3, 4, 5, 6, 1]], "int32"),
    "targets": np.array([[7, 8, 1]], "int32"),
    "alignment": np.array([[2, 0, 4]], "int32"),
}


def made(hparams):
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=19)
    randomize(model)
    return model


def test_jumps_and_positions_are_those_of_a_loop() -> None:
    logits = 2 * np.random.default_rng(0).normal(size=(1, 3, CLASSES)).astype("float32")
    found = jump_exhibits(logits, FEATURES)
    positions, jumps = found["positions"], found["jumps"]
    assert jumps.columns == ("-5", "-4", "-3", "-2", "-1", "0", "+1", "+2", "+3", "+4", "+5")
    assert positions.pruned and not jumps.pruned
    previous = -1
    for i, position in enumerate([2, 0, 4]):
        whole = sum(math.exp(x) for x in logits[0, i].tolist())
        probability = [math.exp(x) / whole for x in logits[0, i].tolist()]
        expected = [probability[s - previous + MOST] for s in range(5)]
        np.testing.assert_allclose(positions.values[0, i], expected, rtol=1e-5)
        expected = [probability[jump + MOST] for jump in range(-5, 6)]
        np.testing.assert_allclose(jumps.values[0, i], expected, rtol=1e-5)
        assert int(positions.chosen[0, i]) == position
        assert jumps.columns[int(jumps.chosen[0, i])] == f"{position - previous:+d}"
        previous = position


@pytest.mark.parametrize("kind", ["plain", "rnns"])
def test_a_pair_shows_what_both_models_show(kind: str) -> None:
    pair = make_pair(kind)
    lexical, alignment = pair.lexical, pair.alignment
    expected = {
        **lexical.attention_maps(),
        **{f"alignment model/{name}": m for name, m in alignment.attention_maps().items()},
    }
    assert list(pair.attention_maps()) == list(expected)
    weights = pair.attention_weights(FEATURES)
    assert list(weights) == list(expected)
    for name, own in alignment.attention_weights(FEATURES).items():
        for one, other in zip(weights[f"alignment model/{name}"], own, strict=True):
            np.testing.assert_array_equal(one, other)
    shown = pair.exhibits(FEATURES)
    assert list(shown) == ["alignment", "alignment model/positions", "alignment model/jumps"]
    assert shown["alignment model/jumps"].title == "alignment model: probability of each jump"
    head = np.asarray(shown["alignment"].values)[0]
    assert head.tolist() == [[0, 0, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]
    np.testing.assert_array_equal(
        pair.token_log_probabilities(FEATURES), lexical.token_log_probabilities(FEATURES)
    )


def test_a_token_that_is_aligned_with_nothing_has_no_weight() -> None:
    shown = make_pair().lexical.exhibits({**FEATURES, "alignment": np.array([[2, 5, 9]])})
    assert np.asarray(shown["alignment"].values).sum(-1).tolist() == [[1, 0, 0]]


def test_the_mixture_is_the_softmax_of_its_weights() -> None:
    model = made(REPRESENTATIONS["representation"])
    (found,) = model.exhibits(FEATURES).values()
    assert found.rows == ("decoder layer 1",)
    assert found.columns == ("input of encoder layer 1", "output of the encoder")
    raw = np.asarray(model.transparent_attention.logits, "float64")
    expected = np.exp(raw) / np.exp(raw).sum(-1, keepdims=True)
    np.testing.assert_allclose(np.asarray(found.values)[0], expected, rtol=1e-5)
    plain = made(REPRESENTATIONS["representation"].replace(transparent_attention=False))
    assert plain.exhibits(FEATURES) == {}


def test_predicted_classes_are_those_that_the_loss_finds_right() -> None:
    model = made(LEVELS_OF_TREES.replace(tag_loss_weight=0.1))
    features = {**FEATURES, "levels": np.array([[1, 3, 1, 2, 1]], "int32")}
    classes = model.partition_classes(features)
    members = model.partitions(features)
    tags = np.zeros((1, 5), int)
    for level, name in enumerate(("level_1", "level_2", "level_3")):
        for number, tokens in zip(np.asarray(classes[name])[0], members[name][0], strict=True):
            tags[0, np.asarray(tokens)] += TAG_CLASSES**level * int(number)
    right = model.batch_loss({**features, "tags": tags}).means["tag_accuracy"]
    assert float(right.total) == float(right.count) > 0
    assert made(LEVELS_OF_TREES).partition_classes(features) == {}


def test_an_ensemble_shows_what_its_members_show() -> None:
    local = made(LuongHParams(hidden_size=8, attention="local_m", attention_window=2))
    members = [made(SMALL), local, made(REPRESENTATIONS["representation"])]
    ensemble = Ensemble(members)
    layers = sum(
        len(own["cross"].layouts) for own in (member.attention_maps() for member in members)
    )
    (windows,) = ensemble.attention_windows(FEATURES).values()
    assert len(windows) == layers and [own is None for own in windows] == [True, False, True]
    (expected,) = local.attention_windows(FEATURES)["cross"]
    np.testing.assert_array_equal(windows[1].aligned, expected.aligned)
    assert list(ensemble.exhibits(FEATURES)) == ["2/transparent_attention"]
    assert Units(partition="2/phrases") in ensemble.attention_maps()["pooling"].layouts[0].rows


def test_other_models_show_nothing_more() -> None:
    model = made(TransformerHParams(**vars(SMALL)))
    assert model.exhibits(FEATURES) == model.partition_classes(FEATURES) == {}
