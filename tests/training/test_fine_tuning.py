"""Frozen variables, factors on the learning rate, and low-rank adapters."""

import keras
import numpy as np
import pytest
from tiny_training import weights

from t2t_phrase import registry
from t2t_phrase.config import HParamsError
from t2t_phrase.data.input.pipeline import Position
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.directory import RunDirectory, moving_averages
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.fine_tuning import freeze, scale_learning_rates
from t2t_phrase.training.optimizers import make_optimizer
from t2t_phrase.training.schedules import make_schedule
from t2t_phrase.training.step import Stepper

SMALL = {"num_hidden_layers": 1, "hidden_size": 8, "filter_size": 16, "num_heads": 2}
IDS = np.array([[3, 4, 5, 1], [6, 7, 1, 0]], "int32")
BATCH = {"inputs": IDS, "targets": IDS}


def stepper(optimizer="sgd", *, frozen=(), factors=(), **changes):
    registry.discover()
    hparams = TransformerHParams(
        **SMALL,
        attention_dropout=0.0,
        relu_dropout=0.0,
        layer_prepostprocess_dropout=0.0,
        optimizer=optimizer,
        learning_rate_schedule="constant",
        learning_rate_constant=0.01,
        **changes,
    )
    keras.utils.set_random_seed(1)
    model = registry.models["transformer"].from_hparams(hparams, vocab_size=16)
    freeze(model, frozen)
    made = make_optimizer(hparams, make_schedule(hparams, train_steps=10))
    made.build(model.trainable_variables)
    scale_learning_rates(made, model, factors)
    return Stepper(make_strategy(), model, made, seed=0)


def moved(stepper):
    before = weights(stepper)
    stepper.train(BATCH)
    after = weights(stepper)
    return {name: after[name] - before[name] for name in before}


def test_frozen_variables_keep_their_values():
    changes = moved(stepper(frozen=["embedding/*", "encoder_*"]))
    for name, change in changes.items():
        is_frozen = name.startswith(("embedding/", "encoder_"))
        assert (np.abs(change).max() == 0) == is_frozen, name


@pytest.mark.parametrize("optimizer", ["adam", "sgd", "muon"])
@pytest.mark.slow
def test_factors_scale_updates(optimizer):
    plain = moved(stepper(optimizer))
    scaled = moved(stepper(optimizer, factors=["*=0.5", "decoder_*=0.1"]))
    for name, change in plain.items():
        factor = 0.1 if name.startswith("decoder_") else 0.5
        np.testing.assert_allclose(scaled[name], factor * change, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_factors_scale_weight_decay():
    """Plain SGD with decay is linear in the learning rate."""
    decay = {"optimizer_options": ("weight_decay=0.5",)}
    without, plain = moved(stepper()), moved(stepper(**decay))
    scaled = moved(stepper(factors=["decoder_*=0.1"], **decay))
    for name, change in plain.items():
        factor = 0.1 if name.startswith("decoder_") else 1.0
        np.testing.assert_allclose(scaled[name], factor * change, atol=1e-7, err_msg=name)
    decayed = [name for name in plain if np.abs(plain[name] - without[name]).max() > 1e-4]
    assert any(name.startswith("decoder_") for name in decayed)


@pytest.mark.parametrize("option", ["frozen", "factors"])
def test_a_pattern_that_matches_nothing(option):
    pattern = "embeding/*" if option == "frozen" else "embeding/*=0.1"
    with pytest.raises(HParamsError, match=r"'embeding/\*' matches no variable"):
        stepper(**{option: [pattern]})


def test_a_factor_of_frozen_variables():
    with pytest.raises(HParamsError, match=r"'embedding/\*' matches frozen variables only"):
        stepper(frozen=["embedding/*"], factors=["embedding/*=0.1"])


def test_nothing_left_to_train():
    with pytest.raises(HParamsError, match="nothing is left to train"):
        stepper(frozen=["*"])


@pytest.mark.parametrize("text", ["encoder_*", "a=0", "a=-1", "=1", "a=x"])
def test_wrong_factors(text):
    with pytest.raises(HParamsError, match="PATTERN=FACTOR"):
        TransformerHParams(learning_rate_factors=(text,))


def test_lora_starts_as_the_model_and_trains_adapters_only():
    plain, adapted = stepper(), stepper(lora_rank=2)
    names = set(weights(adapted)) - set(weights(plain))
    assert names and all("lora_kernel" in name for name in names)
    logits = [each.model({"inputs": IDS, "targets": IDS}) for each in (plain, adapted)]
    for name, value in weights(plain).items():
        np.testing.assert_array_equal(value, weights(adapted)[name])
    np.testing.assert_allclose(*logits, atol=1e-6)
    changes = moved(adapted)
    changed = {name for name, change in changes.items() if np.abs(change).max() > 0}
    assert changed and changed <= names


@pytest.mark.parametrize(
    ("name", "changes", "kept"),
    [
        ("alignment_assisted_rnn_demo", "hidden_size=8,num_hidden_layers=1", "attention/bias"),
        (
            "phrase_representation_max_attn_ta_demo",
            "hidden_size=8,filter_size=8,num_heads=2",
            "transparent_attention",
        ),
    ],
)
def test_lora_does_not_switch_off_alignments_and_lower_layers(name, changes, kept):
    registry.discover()
    hparams = registry.hparams[name]().override(changes).replace(lora_rank=2)
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=16)
    trained = [variable.path for variable in model.trainable_variables]
    assert any(kept in path for path in trained)
    assert all("lora_kernel" in path or kept in path for path in trained)


@pytest.mark.slow
def test_moving_averages_follow_the_weights():
    averaged = stepper("adam", optimizer_options=("use_ema=true", "ema_momentum=0.5"))
    expected = None
    for _ in range(3):
        averaged.train(BATCH)
        now = weights(averaged)
        expected = (
            now
            if expected is None
            else {name: 0.5 * expected[name] + 0.5 * now[name] for name in now}
        )
    found = moving_averages(averaged.optimizer, averaged.model)
    assert set(found) == set(expected)
    for name, average in found.items():
        np.testing.assert_allclose(average.numpy(), expected[name], atol=1e-6)


def directory(folder, stepper):
    return RunDirectory(
        folder, model=stepper.model, optimizer=stepper.optimizer, keep=2, period=1, log=print
    )


@pytest.mark.slow
def test_checkpoints_have_averages_and_resume_the_weights(tmp_path):
    options = {"optimizer_options": ("use_ema=true", "ema_momentum=0.9")}
    first = stepper("adam", **options)
    for _ in range(2):
        first.train(BATCH)
    averages = {n: v.numpy() for n, v in moving_averages(first.optimizer, first.model).items()}
    trained = weights(first)
    place = directory(tmp_path, first)
    with place.averaged_weights():
        for name, value in weights(first).items():
            np.testing.assert_array_equal(value, averages[name])
    place.save(2, Position())
    stored = checkpoints.read_tensors(tmp_path / "model.ckpt-2")
    for name, value in averages.items():
        np.testing.assert_array_equal(stored[name], value)
    second = stepper("adam", **options)
    directory(tmp_path, second).restore()
    for name, value in weights(second).items():
        np.testing.assert_array_equal(value, trained[name])
    for each in (first, second):
        each.train(BATCH)
    for name, value in weights(second).items():
        np.testing.assert_array_equal(value, weights(first)[name])
    found = moving_averages(second.optimizer, second.model)
    for name, average in moving_averages(first.optimizer, first.model).items():
        np.testing.assert_array_equal(average.numpy(), found[name].numpy())
