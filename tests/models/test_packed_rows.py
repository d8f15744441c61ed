"""Rows of several pairs: each pair is computed as if it were alone."""

from __future__ import annotations

import functools
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from mostly_slow import mostly_slow
from packed_pairs import LENGTHS, alone, packed, places_of, random_sides
from random_weights import randomize
from small_phrase_models import (
    GRANULARITIES,
    KINDS,
    LABELLED_LEVELS,
    MIXED,
    PARSED,
    REPRESENTATIONS,
    SMALL,
)

from t2t_phrase import registry
from t2t_phrase.config import HParamsError
from t2t_phrase.features import TAG_CLASSES, Feature
from t2t_phrase.models.alignment_assisted import with_alignment_heads
from t2t_phrase.models.alignment_model import with_jumps
from t2t_phrase.models.multi_granularity_hparams import with_granularities
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.step import Stepper

registry.discover()
VOCAB = 19
PAIRS = random_sides()
FAMILIES: dict[str, Any] = {
    "pre_norm": SMALL.replace(num_hidden_layers=2),
    "post_norm": SMALL.replace(norm="post"),
    "relative": SMALL.replace(pos="none", max_relative_position=3),
    **KINDS,
    "mixed_with_distances": MIXED["mixed_with_distances"],
    **REPRESENTATIONS,
    "fixed": REPRESENTATIONS["representation"].replace(
        phrases="fixed", phrase_length=2, transparent_attention=False, phrase_glance="mean"
    ),
    "parsed": PARSED,
    "on_lstm_of_ngrams": GRANULARITIES.replace(num_encoder_layers=2),
    "lstms_of_ngrams": with_granularities(SMALL, interaction="lstm", composition="lstm"),
    "labelled_levels": LABELLED_LEVELS,
    "aligned": with_alignment_heads(MIXED["mixed"]),
    "jumps": with_jumps(SMALL),
}


# The mixed ones, with distances and with alignments, hold all kinds of n-gram attention.
NAMES = mostly_slow(
    FAMILIES, "relative", "representation", "on_lstm_of_ngrams", "labelled_levels", "aligned"
)


@functools.cache
def model_of(name: str) -> Any:
    hparams = FAMILIES[name].replace(packed_length=256)
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    randomize(model, seed=len(name))
    return model


def pairs_of(name: str) -> list[dict[str, np.ndarray]]:
    """Return the pairs with the features that a family reads."""
    read: tuple[Feature, ...] = FAMILIES[name].training_features
    random = np.random.default_rng(2)
    return [
        pair | {feature.name: MAKE[feature.name](pair, random) for feature in read}
        for pair in PAIRS
    ]


def random_phrases(pair: dict[str, np.ndarray], random: np.random.Generator) -> np.ndarray:
    begins = random.random(len(pair["inputs"])) < 0.4
    begins[0] = True
    return np.cumsum(begins, dtype="int32")


def random_levels(pair: dict[str, np.ndarray], random: np.random.Generator) -> np.ndarray:
    levels = random.integers(1, 6, len(pair["inputs"]))
    levels[0] = 1
    return levels.astype("int32")


def random_tags(pair: dict[str, np.ndarray], random: np.random.Generator) -> np.ndarray:
    tags = random.integers(0, TAG_CLASSES**3, len(pair["inputs"]))
    tags[-1] = 0  # EOS has none
    return tags.astype("int32")


def random_alignment(pair: dict[str, np.ndarray], random: np.random.Generator) -> np.ndarray:
    # Some are aligned with nothing.
    return random.integers(-1, len(pair["inputs"]), len(pair["targets"])).astype("int32")


MAKE = {
    "phrases": random_phrases,
    "levels": random_levels,
    "tags": random_tags,
    "alignment": random_alignment,
}


def loss_and_gradients(model: Any, features: dict[str, np.ndarray]) -> tuple[Any, list[Any]]:
    variables = [variable.value for variable in model.trainable_variables]
    with tf.GradientTape() as tape:
        loss = model.batch_loss(features)
    zero = tf.UnconnectedGradients.ZERO
    found = tape.gradient(loss.objective, variables, unconnected_gradients=zero)
    return loss, [tf.convert_to_tensor(gradient) for gradient in found]


@pytest.mark.parametrize("name", NAMES)
def test_objective_and_gradients_are_those_of_the_pairs(name: str) -> None:
    model, pairs = model_of(name), pairs_of(name)
    expected, expected_gradients = loss_and_gradients(model, alone(pairs))
    found, gradients = loss_and_gradients(model, packed(pairs))
    np.testing.assert_allclose(found.objective, expected.objective, rtol=2e-6)
    assert found.means.keys() == expected.means.keys()
    for figure, mean in expected.means.items():
        np.testing.assert_allclose(found.means[figure], mean, rtol=5e-6, err_msg=figure)
    for variable, one, other in zip(
        model.trainable_variables, gradients, expected_gradients, strict=True
    ):
        scale = np.abs(other).max()
        np.testing.assert_allclose(
            one, other, rtol=1e-4, atol=2e-5 * scale + 1e-6, err_msg=variable.path
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_one_trace_serves_packed_rows_of_every_family(name: str) -> None:
    model, pairs = model_of(name), pairs_of(name)
    before = [np.array(variable) for variable in model.trainable_variables]
    optimizer = keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)
    read = model.hparams.training_features
    stepper = Stepper(make_strategy(), model, optimizer, seed=1, features=read, packed=True)
    features = packed(pairs)
    expected = float(model.batch_loss(features).objective)
    result = stepper.train(features)
    assert float(result.objective) == pytest.approx(expected, rel=1e-5)
    stepper.train({name: value[:2] for name, value in features.items()})
    assert stepper.compilations == 1
    for variable, value in zip(model.trainable_variables, before, strict=True):
        variable.assign(value)


def test_every_set_can_be_packed_or_says_that_it_cannot() -> None:
    packable = {hparams.model for hparams in FAMILIES.values()}
    for name in registry.hparams:
        hparams = registry.hparams[name]()
        length = hparams.max_length
        if hparams.model in packable:
            assert hparams.replace(packed_length=length).packed_length == length
            continue
        with pytest.raises(HParamsError, match=f"packed_length={length}: a recurrent model"):
            hparams.replace(packed_length=length)


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_does_not_read_the_others_of_its_row(name: str) -> None:
    model, pairs = model_of(name), pairs_of(name)
    logits = np.array(model(packed(pairs)))
    # In the middle of its row, so that there is a pair on either side.
    changed = [dict(pair) for pair in pairs]
    other = random_sides(LENGTHS, seed=1)
    changed[1] |= {name: other[1][name] for name in ("inputs", "targets")}
    moved = np.asarray(model(packed(changed)))
    row, own = places_of(pairs, 1, "target")
    assert np.abs(moved[row, own] - logits[row, own]).max() > 1e-3
    logits[row, own] = moved[row, own]
    np.testing.assert_array_equal(moved, logits)
