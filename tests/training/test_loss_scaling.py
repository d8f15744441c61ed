"""Training in float16: skipped updates, the scale, resuming, and other families."""

import keras
import numpy as np
import pytest
import tensorflow as tf
from tiny_training import make_stepper, make_trainer, steps_in, weights

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.training.loss_scaling import inner_optimizer, loss_scale, with_loss_scale
from t2t_phrase.training.optimizers import make_optimizer
from t2t_phrase.training.schedules import make_schedule
from t2t_phrase.training.step import Stepper

IDS = np.random.default_rng(0).integers(3, 32, (2, 4, 6)).astype(np.int32)
BATCH = {"inputs": IDS[0], "targets": IDS[1]}


def scaled(scale):
    return lambda rate: with_loss_scale(keras.optimizers.Adam(rate), initial_scale=scale)


@pytest.mark.parametrize(
    "options",
    [
        {"clip_grad_norm": 0.1},
        *(pytest.param(each, marks=pytest.mark.slow) for each in ({}, {"xla": True})),
    ],
)
def test_a_power_of_two_does_not_change_updates(options):
    """In float32 nothing overflows, so a scaled run equals one without scaling."""
    plain = make_stepper(**options)
    stepper = make_stepper(optimizer=scaled(2.0**10), **options)
    for _ in range(3):
        expected, found = plain.train(BATCH), stepper.train(BATCH)
        np.testing.assert_allclose(found.grad_norm, expected.grad_norm, rtol=1e-6)
        assert float(found.loss_scale) == 2.0**10 and float(expected.loss_scale) == 1
    for name, value in weights(plain).items():
        np.testing.assert_allclose(weights(stepper)[name], value, rtol=1e-5, atol=1e-7)


def test_an_overflow_is_skipped_and_halves_the_scale(tmp_path, files):
    stepper = make_stepper(dtype="mixed_float16", optimizer=scaled(2.0**60))
    before = weights(stepper)
    result = stepper.train(BATCH)
    assert not np.isfinite(float(result.grad_norm)) and np.isfinite(float(result.objective))
    for name, value in weights(stepper).items():
        np.testing.assert_array_equal(value, before[name])
    assert int(stepper.optimizer.iterations) == 0
    assert float(loss_scale(stepper.optimizer)) == 2.0**59
    # From the first scale that fits, it trains.
    lines = []
    trainer = make_trainer(tmp_path, files, stepper, train_steps=60, log=lines.append)
    trainer.schedule = float
    trainer.train()
    skipped = [line for line in lines if "overflows float16 at loss scale" in line]
    assert f"update skipped ({len(skipped)} so far)" in skipped[-1]
    assert int(stepper.optimizer.iterations) == 60 - len(skipped) > 0
    # Steps include those without an update; the learning rate depends on the updates before.
    (last,) = (line for line in lines if line.startswith("step 60/60  "))
    assert f"  lr {int(stepper.optimizer.iterations) - 1}  " in last
    assert any((value != before[name]).any() for name, value in weights(stepper).items())


def test_the_state_is_resumed(tmp_path, files):
    def run(folder, steps, lines):
        stepper = make_stepper(dtype="mixed_float16", optimizer=scaled(2.0**24))
        make_trainer(folder, files, stepper, train_steps=steps, log=lines.append).train()
        return stepper

    whole, lines, other = [], [], []
    expected = run(tmp_path / "whole", 24, whole)
    run(tmp_path / "part", 8, lines)
    assert steps_in(tmp_path / "part")[-1] == 8
    stepper = run(tmp_path / "part", 24, other)
    for a, b in zip(expected.optimizer.variables, stepper.optimizer.variables, strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    for name, value in weights(expected).items():
        np.testing.assert_array_equal(weights(stepper)[name], value)
    of = [[line for line in found if "skipped" in line] for found in (whole, lines + other)]
    assert of[0] == of[1] != []


def test_what_no_scale_helps_is_an_error(tmp_path, files):
    stepper = make_stepper(dtype="mixed_float16", optimizer=scaled(4.0))
    for variable in stepper.model.trainable_variables:
        variable.assign(np.full(variable.shape, np.nan))
    lines = []
    with pytest.raises(UserError, match="step 4: the loss is not finite"):
        make_trainer(tmp_path, files, stepper, train_steps=9, log=lines.append).train()
    assert sum("update skipped" in line for line in lines) == 3


FAMILIES = [
    "transformer_tiny",
    "phrase_interleaved_queryk_1_2_demo",
    "phrase_homogeneous_convkv_2_2_demo",
    "phrase_representation_max_attn_ta_demo",
    "mgsa_ngram_san_demo",
    "luong_local_p_general_feed_demo",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_trains_in_float16_as_in_float32(name):
    registry.discover()
    objectives = {}
    for policy in ("float32", "mixed_float16"):
        hparams = registry.hparams[name]().override(
            f"dtype_policy={policy},hidden_size=32,learning_rate_schedule=constant,"
            "learning_rate_constant=0.01"
        )
        keras.utils.set_random_seed(1)
        model = registry.models[hparams.model].from_hparams(hparams, vocab_size=40)
        optimizer = make_optimizer(hparams, make_schedule(hparams, train_steps=9))
        optimizer.build(model.trainable_variables)
        if policy == "mixed_float16":
            optimizer = with_loss_scale(optimizer, initial_scale=2.0**8)
            optimizer.build(model.trainable_variables)
        stepper = Stepper(tf.distribute.get_strategy(), model, optimizer, seed=1)
        objectives[policy] = [float(stepper.train(BATCH).objective) for _ in range(6)]
        assert int(inner_optimizer(optimizer).iterations) == 6
    np.testing.assert_allclose(objectives["mixed_float16"], objectives["float32"], rtol=0.02)
    assert objectives["float32"][-1] < 0.995 * objectives["float32"][0]
