"""Luong's models are the same on several devices, resumed, in an ensemble and as SavedModels."""

from typing import Any

import keras
import numpy as np
import pytest
from exact_models import TARGETS, VOCAB, batch_of, random_sources
from mostly_slow import mostly_slow
from random_weights import randomize
from served_models import assert_a_saved_model_is_the_decoder
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
from two_devices import assert_two_devices_are_one

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.models.luong import Luong
from t2t_phrase.runs import checkpoints

# The last row has all that the others have but a bidirectional encoder and location scores.
LAST = "luong_base_local_p_general_feed"


SETUP = """
from small_luong_models import small_set
hparams = small_set(name)
hparams = hparams.replace(
    learning_rate_schedule="constant",
    learning_rate_constant=1.0 if hparams.optimizer == "sgd" else 0.01,
    learning_rate_halving_start=0,
    learning_rate_halving_steps=0,
)
"""


@pytest.mark.parametrize("name", mostly_slow(structures()))
def test_two_devices_are_one_on_the_joined_batch(name: str) -> None:
    assert_two_devices_are_one(SETUP, name)


@pytest.mark.parametrize("name", mostly_slow(structures()))
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


@pytest.mark.parametrize("name", mostly_slow(structures()))
def test_a_saved_model_is_the_decoder(name: str, tmp_path: Any) -> None:
    toy = make_toy_run(tmp_path, hparams_set=name, **{**vars(small_set(name)), "hidden_size": 16})
    assert_a_saved_model_is_the_decoder(toy, tmp_path / "served")


@pytest.mark.parametrize("name", mostly_slow(structures(), LAST))
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
