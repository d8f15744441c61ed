"""The loss of predicted labels, against loops over segments; and what it changes in a model."""

import dataclasses
import math

import keras
import numpy as np
import pytest
from random_weights import randomize
from small_phrase_models import SMALL

from t2t_phrase.config import HParamsError
from t2t_phrase.features import MOST_TAG_LEVELS, TAG_CLASSES, TAGS
from t2t_phrase.models.multi_granularity import MultiGranularityTransformer
from t2t_phrase.models.multi_granularity_hparams import heads_of, with_granularities
from t2t_phrase.models.tag_losses import classes_of_segments

VOCAB = 19
WEIGHT = 0.3
HPARAMS = with_granularities(
    SMALL,
    granularities=("tokens", "level_1", "ngram_2", "level_3"),
    granularity_layers=(1, 2),
    num_hidden_layers=2,
    num_heads=6,
    hidden_size=24,
    tag_loss_weight=WEIGHT,
)
# Sentences of 7, 2 and 1 tokens; EOS has a segment, but no label.
LEVELS = [[1, 2, 3, 21, 1, 2, 1], [1, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]]
BY_LEVEL = {
    1: [[5, 5, 5, 5, 9, 9, 0], [127, 0, 0, 0, 0, 0, 0], [0] * 7],
    2: [[1, 2, 2, 2, 3, 4, 0], [127, 0, 0, 0, 0, 0, 0], [0] * 7],
    3: [[1, 2, 7, 7, 3, 4, 0], [127, 0, 0, 0, 0, 0, 0], [0] * 7],
    4: [[1, 2, 7, 7, 3, 4, 0], [127, 0, 0, 0, 0, 0, 0], [0] * 7],
}
TAG_NUMBERS = sum(
    np.array(rows, "int32") * TAG_CLASSES ** (level - 1) for level, rows in BY_LEVEL.items()
)
FEATURES = {
    "inputs": np.array([[8, 3, 4, 9, 9, 2, 1], [5, 1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]]),
    "targets": np.array([[4, 2, 1], [9, 1, 0], [1, 0, 0]]),
    "levels": np.array(LEVELS, "int32"),
    "tags": TAG_NUMBERS.astype("int32"),
}


@pytest.fixture(scope="module")
def model():
    model = MultiGranularityTransformer.from_hparams(HPARAMS, vocab_size=VOCAB)
    randomize(model, seed=3)
    return model


def segments(row, level):
    """Return the lists of positions that one row of LEVELS has at a level."""
    found = []
    for place, number in enumerate(row):
        if number and number <= level:
            found.append([])
        if number:
            found[-1].append(place)
    return found


def test_the_loss_equals_loops_over_segments(model):
    """Eq. (9), (10) and (12), from the segments that the attention composes."""
    captured = []
    for layer in model.encoder_layers:
        original = type(layer).call

        def call(self, *args, original=original, **kwargs):
            found = original(self, *args, **kwargs)
            captured.append(np.asarray(found[2], "float64"))
            return found

        layer.call = call.__get__(layer)
    try:
        loss = model.batch_loss(FEATURES)
    finally:
        for layer in model.encoder_layers:
            del layer.call
    heads = [name for name in heads_of(HPARAMS) if name != "tokens"]
    total, count, right = 0.0, 0, 0
    for composed, classifier in zip(captured, model.tag_classifiers, strict=True):
        weights = {v.path.split("/", 2)[-1]: np.asarray(v, "float64") for v in classifier.weights}
        for name in ("level_1", "level_3"):
            level = int(name[-1])
            for sentence, row in enumerate(LEVELS):
                for number, segment in enumerate(segments(row, level)):
                    label = BY_LEVEL[level][sentence][segment[0]]
                    if not label:
                        continue
                    vector = []
                    for head, partition in enumerate(heads):
                        if partition == name:
                            vector += list(composed[sentence, head, number])
                    logits = np.array(vector) @ weights[f"{name}/kernel"] + weights[f"{name}/bias"]
                    total += math.log(sum(math.exp(v) for v in logits)) - logits[label]
                    count += 1
                    right += int(np.argmax(logits) == label)
    assert count == 2 * ((2 + 1) + (5 + 1))
    assert float(loss.means["tag_loss"].count) == float(loss.means["tag_accuracy"].count) == count
    assert float(loss.means["tag_loss"].total) == pytest.approx(total, rel=1e-5)
    assert float(loss.means["tag_accuracy"].total) == right
    expected = float(loss.means["loss"].total) + WEIGHT * total
    assert float(loss.objective) == pytest.approx(expected, rel=1e-5)


def test_r_drop_counts_labels_once(model):
    """Its two passes, in which nothing is dropped here, have the loss of one."""
    hparams = HPARAMS.replace(r_drop=2.0, source_word_dropout=1e-9)
    twice = MultiGranularityTransformer.from_hparams(hparams, vocab_size=VOCAB)
    for own, other in zip(twice.trainable_variables, model.trainable_variables, strict=True):
        own.assign(other)
    expected, found = model.batch_loss(FEATURES), twice.batch_loss(FEATURES, training=True)
    assert float(found.objective) == pytest.approx(float(expected.objective), rel=1e-5)
    for name, mean in expected.means.items():
        np.testing.assert_allclose(found.means[name], mean, rtol=1e-5)


def test_classes_of_every_level():
    for level in range(1, MOST_TAG_LEVELS + 1):
        membership = np.zeros((3, 7, 7), bool)
        for sentence, row in enumerate(LEVELS):
            for number, segment in enumerate(segments(row, level)):
                membership[sentence, number, segment] = True
        found = np.asarray(classes_of_segments(FEATURES["tags"], membership, level))
        for sentence, row in enumerate(LEVELS):
            expected = [BY_LEVEL[level][sentence][s[0]] for s in segments(row, level)]
            assert found[sentence].tolist() == expected + [0] * (7 - len(expected))


def test_translations_do_not_read_labels(model):
    without = {name: value for name, value in FEATURES.items() if name != "tags"}
    np.testing.assert_array_equal(np.asarray(model(without)), np.asarray(model(FEATURES)))
    assert TAGS not in HPARAMS.features and HPARAMS.training_features[-1] == TAGS
    assert set(model.batch_loss(without).means) == {"loss", "nll", "accuracy"}


def test_labels_move_the_composition_but_not_the_decoder(model):
    """A gradient of the tag loss alone: at zero weight for everything but the labels."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = model.batch_loss(FEATURES).means["tag_loss"].total
    gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
    moved = {
        v.path.split("/")[1]
        for v, g in zip(model.trainable_variables, gradients, strict=True)
        if g is not None and np.abs(keras.ops.convert_to_numpy(g)).max() > 0
    }
    assert any(name.startswith("tag_classifier") for name in moved)
    assert any(name.startswith("encoder") for name in moved)
    assert not any(name.startswith("decoder") for name in moved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"granularities": ("tokens", "ngram_2")}, "has no level_K with labels"),
        ({"granularities": ("tokens", "level_5")}, "the labels of 4 levels, but .* has level_5"),
        ({"tag_loss_weight": -1.0}, "tag_loss_weight: must not be negative, got -1.0"),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(HParamsError, match=message):
        dataclasses.replace(HPARAMS, **changes)
