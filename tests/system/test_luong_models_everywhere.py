"""Luong's models are the same on several devices, resumed, in an ensemble and as SavedModels."""

import json
from typing import Any

import forked
import keras
import numpy as np
import pytest
import tensorflow as tf
from exact_models import TARGETS, VOCAB, batch_of, random_sources
from random_weights import randomize
from small_luong_models import small_set, structures
from tiny_training import (
    VOCAB_SIZE,
    make_stepper,
    make_trainer,
    random_pairs,
    weights,
    write_shards,
)
from toy_run import make_toy_run

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.export.saved_model import export
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.models.luong import Luong
from t2t_phrase.runs import checkpoints

# The last row has all that the others have but a bidirectional encoder and location scores.
LAST = "luong_base_local_p_general_feed"


def with_slow(names: list[str], fast: str = "") -> list[Any]:
    """Return parameters, all but one of which are slow."""
    slow = pytest.mark.slow
    return [name if name == fast else pytest.param(name, marks=slow) for name in names]


# Logical devices must be created before TensorFlow starts, hence in another process.
TWO_DEVICES = """
import json, sys
import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from small_luong_models import small_set
from t2t_phrase import registry
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.optimizers import make_optimizer
from t2t_phrase.training.schedules import make_schedule
from t2t_phrase.training.step import Stepper

random = np.random.default_rng(0)
batch = random.integers(3, 19, (2, 4, 9)).astype(np.int32)
batch[0, 1, 2:] = batch[1, 2, 1:] = batch[:, 3] = 0
features = dict(zip(("inputs", "targets"), batch))
registry.discover()
hparams = small_set(sys.argv[1]).replace(
    learning_rate_schedule="constant",
    learning_rate_halving_start=0,
    learning_rate_halving_steps=0,
)
found = []
for strategy in (make_strategy(devices=["CPU:0", "CPU:1"]), make_strategy()):
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = registry.models[hparams.model].from_hparams(hparams, vocab_size=19)
        optimizer = make_optimizer(hparams, make_schedule(hparams, train_steps=3))
        optimizer.build(model.trainable_variables)
    stepper = Stepper(
        strategy,
        model,
        optimizer,
        seed=1,
        clip_grad_norm=hparams.clip_grad_norm,
        gradient_mean=hparams.gradient_mean,
    )
    losses = [float(stepper.train(features).objective) for _ in range(3)]
    found.append({"replicas": stepper.replicas, "losses": losses})
print(json.dumps(found))
"""


@pytest.mark.parametrize("name", with_slow(structures()))
def test_two_devices_are_one_on_the_joined_batch(name: str) -> None:
    ended = forked.run_source(TWO_DEVICES, name)
    assert ended.code == 0, ended.err
    two, one = json.loads(ended.out)
    assert (two["replicas"], one["replicas"]) == (2, 1)
    # Later losses tell of the gradients: they come after updates.
    np.testing.assert_allclose(two["losses"], one["losses"], rtol=1e-4)
    assert len({round(loss, 3) for loss in one["losses"]}) == 3


@pytest.mark.parametrize("name", with_slow(structures()))
def test_resumed_in_the_middle_it_ends_the_same_bit_for_bit(name: str, tmp_path: Any) -> None:
    files = write_shards(tmp_path, random_pairs([1 + i * 7 % 12 for i in range(50)]))

    def trained(folder: str, *stops: int) -> Any:
        for steps in stops:
            stepper = make_stepper(
                make_model=lambda *_: Luong.from_hparams(
                    small_set(name).replace(dropout=0.3), vocab_size=VOCAB_SIZE
                )
            )
            make_trainer(tmp_path / folder, files, stepper, train_steps=steps).train()
        return stepper

    whole, half = trained("whole", 9), trained("halves", 5, 9)
    fresh = make_stepper(
        make_model=lambda *_: Luong.from_hparams(small_set(name), vocab_size=VOCAB_SIZE)
    )
    changed = 0
    for path, value in weights(half).items():
        np.testing.assert_array_equal(value, weights(whole)[path])
        changed += bool(np.any(value != weights(fresh)[path]))
    assert changed == len(weights(half))
    for one, other in zip(whole.optimizer.variables, half.optimizer.variables, strict=True):
        np.testing.assert_array_equal(one.value, other.value)
    states = [checkpoints.read_state(tmp_path / x / "model.ckpt-9") for x in ("whole", "halves")]
    assert states[0] == states[1]


@pytest.mark.parametrize("name", with_slow(structures()))
def test_a_saved_model_is_the_decoder(name: str, tmp_path: Any) -> None:
    toy = make_toy_run(tmp_path, hparams_set=name, **{**vars(small_set(name)), "hidden_size": 16})
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


@pytest.mark.parametrize("name", with_slow(structures(), LAST))
def test_an_ensemble_of_one_is_the_model(name: str) -> None:
    keras.utils.set_random_seed(0)
    model = Luong.from_hparams(small_set(name), vocab_size=VOCAB)
    randomize(model, deviation=0.4)
    ensemble = Ensemble([model])
    features = batch_of(random_sources([1, 2, 11]), TARGETS[:3], {})
    np.testing.assert_allclose(
        ensemble.token_log_probabilities(features),
        model.token_log_probabilities(features),
        atol=1e-5,
    )
    options = DecodeHParams(beam_size=2, extra_length=1, return_beams=True)
    source = {"inputs": features["inputs"]}
    found, expected = (translate_ids(each, source, options) for each in (ensemble, model))
    np.testing.assert_array_equal(found.ids, expected.ids)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-5)
