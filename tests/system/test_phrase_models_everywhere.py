"""Phrase models give the same results on several devices and as SavedModels."""

import json

import forked
import numpy as np
import pytest
import tensorflow as tf
from small_phrase_models import GRANULARITIES, MIXED, REPRESENTATIONS, granularity_structures
from toy_run import make_toy_run

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.saved_model import export

MODELS = {
    "mixed": MIXED["mixed"],
    "mixed_with_distances": MIXED["mixed_with_distances"],
    **REPRESENTATIONS,
    "granularities": GRANULARITIES,
}

# Logical devices must be created before TensorFlow starts, hence in another process.
TWO_DEVICES = """
import json, sys
import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from small_phrase_models import LEVELS_OF_TREES, MIXED, PARSED, REPRESENTATIONS, small_set
from t2t_phrase import registry
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.optimizers import make_optimizer
from t2t_phrase.training.schedules import make_schedule
from t2t_phrase.training.step import Stepper

random = np.random.default_rng(0)
batch = random.integers(3, 19, (2, 4, 9)).astype(np.int32)
batch[0, 1, 2:] = batch[1, 2, 1:] = batch[:, 3] = 0
features = dict(zip(("inputs", "targets"), batch))
LABELLED = LEVELS_OF_TREES.replace(tag_loss_weight=0.1)
models = {**MIXED, **REPRESENTATIONS, "parsed": PARSED, "granularities": LABELLED}
registry.discover()
name = sys.argv[1]
hparams = (models[name] if name in models else small_set(name)).replace(
    learning_rate_schedule="constant", learning_rate_constant=0.01
)
if hparams.features:
    # New ones in every row, so that rows and phrases cannot go different ways unseen.
    starts = random.random(batch[0].shape) < 0.5
    starts[:, 0] = True
    numbers = np.cumsum(starts, axis=1)
    if hparams.features[0].name == "levels":
        numbers = np.where(starts, 1, 3)
    features[hparams.features[0].name] = np.where(batch[0] > 0, numbers, 0).astype(np.int32)
if hparams.supervision:
    features["tags"] = np.where(batch[0] > 1, features["levels"], 0)
found = []
for strategy in (make_strategy(devices=["CPU:0", "CPU:1"]), make_strategy()):
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = registry.models[hparams.model].from_hparams(hparams, vocab_size=19)
        optimizer = make_optimizer(hparams, make_schedule(hparams, train_steps=3))
        optimizer.build(model.trainable_variables)
    stepper = Stepper(strategy, model, optimizer, seed=1, features=hparams.training_features)
    losses = [float(stepper.train(features).objective) for _ in range(3)]
    found.append({"replicas": stepper.replicas, "losses": losses})
print(json.dumps(found))
"""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("mixed", marks=pytest.mark.slow),
        "parsed",
        pytest.param("mixed_with_distances", marks=pytest.mark.slow),
        pytest.param("representation", marks=pytest.mark.slow),
        pytest.param("granularities", marks=pytest.mark.slow),
        *(pytest.param(name, marks=pytest.mark.slow) for name in granularity_structures()),
    ],
)
def test_two_devices_are_one_on_the_joined_batch(name):
    ended = forked.run_source(TWO_DEVICES, name)
    assert ended.code == 0, ended.err
    two, one = json.loads(ended.out)
    assert (two["replicas"], one["replicas"]) == (2, 1)
    # Later losses tell of the gradients: they come after updates.
    np.testing.assert_allclose(two["losses"], one["losses"], rtol=1e-4)
    assert len({round(loss, 2) for loss in one["losses"]}) == 3


@pytest.mark.parametrize(
    "name",
    [
        "mixed",
        pytest.param("mixed_with_distances", marks=pytest.mark.slow),
        "representation",
        pytest.param("representation_and_attention", marks=pytest.mark.slow),
        pytest.param("granularities", marks=pytest.mark.slow),
    ],
)
def test_a_saved_model_is_the_decoder(name, tmp_path):
    hparams = MODELS[name]
    some = {
        "phrase_transformer": "phrase_interleaved_queryk_1_2",
        "phrase_representation_transformer": "phrase_representation_max_attn_ta_demo",
        "multi_granularity_transformer": "mgsa_ngram_san_demo",
    }[hparams.model]
    toy = make_toy_run(tmp_path, hparams_set=some, **vars(hparams))
    options = DecodeHParams(beam_size=3, extra_length=4)
    folder = export(toy.model, toy.vocabularies, options, tmp_path / "served")
    served = tf.saved_model.load(str(folder)).signatures
    lines = ["the house is old", "dogs", "", "a cat sleeps in it while dogs run far away"]
    found = served["serving_default"](text=tf.constant(lines))
    expected = [
        beams[0] for beams in Translator(toy.model, toy.vocabularies, options).translate(lines)
    ]
    texts = [text.decode() for text in found["translation"].numpy()]
    assert texts == [hypothesis.text for hypothesis in expected]
    assert len(set(texts)) > 2
    np.testing.assert_allclose(found["score"], [h.score for h in expected], rtol=1e-4, atol=1e-5)
    pairs = list(zip(lines, reversed(lines), strict=True))
    scores = served["score"](
        source=tf.constant([pair[0] for pair in pairs]),
        target=tf.constant([pair[1] for pair in pairs]),
    )["log_probability"]
    np.testing.assert_allclose(scores, Scorer(toy.model, toy.vocabularies).score(pairs), rtol=1e-4)
