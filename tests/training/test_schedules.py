"""Learning rates against their formulas, written out."""

import math
import re

import pytest
from keras import ops

from t2t_phrase import registry
from t2t_phrase.config import HParamsError
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.training.schedules import FactorSchedule, length_warning, make_schedule
from t2t_phrase.training_hparams import SCHEDULE_FACTORS

W, N, D, TRAIN, A, P = 40, 30, 64, 100, 50, 25
STEPS = (0, 1, 39, 40, 41, 49, 50, 74, 75, 76, 99, 100, 250)


def halving(step):
    rate = 1.0
    for made in range(1, step + 1):
        if made >= A and (made - A) % P == 0:
            rate /= 2
    return rate


EXPECTED = {
    "constant": lambda step: 2.0,
    "linear_warmup": lambda step: min(1, step / W),
    "rsqrt_decay": lambda step: 1 / math.sqrt(max(step, W)),
    "rsqrt_hidden_size": lambda step: D**-0.5,
    "linear_decay": lambda step: min(1, max(0, (TRAIN - step) / N)),
    "halving": halving,
    "cosdecay": lambda step: 1 if step <= W else 0.5 * (1 + math.cos(math.pi * step / N)),
}


def schedule(factors):
    return FactorSchedule(
        factors,
        constant=2.0,
        warmup_steps=W,
        decay_steps=N,
        hidden_size=D,
        train_steps=TRAIN,
        halving_start=A,
        halving_steps=P,
    )


def test_every_known_factor_has_a_formula():
    assert set(EXPECTED) == set(SCHEDULE_FACTORS)


@pytest.mark.parametrize("factor", sorted(EXPECTED))
def test_factor(factor):
    rate = schedule(factor)
    for step in STEPS:
        assert float(rate(step)) == pytest.approx(EXPECTED[factor](step), rel=1e-5, abs=1e-6)


def test_product_is_the_rate_of_transformer_base():
    rate = schedule("constant * linear_warmup * rsqrt_decay*rsqrt_hidden_size")
    for step in STEPS:
        expected = 2.0 * D**-0.5 * min(step * W**-1.5, max(step, W) ** -0.5)
        assert float(rate(step)) == pytest.approx(expected, rel=1e-5)


def test_registered_factors_read_the_schedule(monkeypatch):
    monkeypatch.setattr(registry.schedule_factors, "_entries", {})

    @registry.schedule_factors.register
    def inverse_time(step, schedule):
        return 1.0 / (1.0 + step / schedule.decay_steps)

    hparams = TransformerHParams().override(
        "learning_rate_schedule=constant*inverse_time,learning_rate_constant=2.0,"
        "learning_rate_decay_steps=30"
    )
    rate = make_schedule(hparams, train_steps=TRAIN)
    for step in STEPS:
        assert float(rate(step)) == pytest.approx(2.0 / (1 + step / 30), rel=1e-6)
    with pytest.raises(HParamsError, match="did you mean inverse_time"):
        hparams.override("learning_rate_schedule=inverse_times")


def test_registered_factors_receive_scalars(monkeypatch):
    monkeypatch.setattr(registry.schedule_factors, "_entries", {})

    @registry.schedule_factors.register
    def late(step, schedule):
        return ops.cond(step < schedule.train_steps / 2, lambda: 0.0, lambda: 1.0)

    hparams = TransformerHParams().override(
        "learning_rate_schedule=constant*linear_warmup*late,learning_rate_warmup_steps=100"
    )
    assert "reaches 0.2, 10% of 2" in length_warning(hparams, train_steps=10)


@pytest.mark.parametrize(
    ("factors", "expected"),
    [("constant*rsqrt_decay", False), ("constant*linear_decay", True), ("late * constant", True)],
)
def test_a_rate_may_depend_on_the_end_of_the_training(factors, expected, monkeypatch):
    monkeypatch.setattr(registry.schedule_factors, "_entries", {})
    registry.schedule_factors.register_as("late")(lambda step, schedule: 1 / schedule.train_steps)
    assert schedule(factors).may_read_train_steps == expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("learning_rate_decay_steps=900", "does not read learning_rate_decay_steps, which linear_"),
        (
            "learning_rate_schedule=rsqrt_decay,learning_rate_constant=5.0",
            "=rsqrt_decay does not read learning_rate_constant, which constant would",
        ),
        (
            "learning_rate_schedule=constant,learning_rate_warmup_steps=5",
            "does not read learning_rate_warmup_steps, which linear_warmup, rsqrt_decay, cosdecay",
        ),
    ],
)
def test_a_field_that_no_factor_reads(text, named):
    with pytest.raises(HParamsError, match=re.escape(named)):
        TransformerHParams().override(text)


def test_config_round_trip():
    rate = schedule("constant*linear_decay*halving")
    again = FactorSchedule.from_config(rate.get_config())
    assert float(again(90)) == float(rate(90))


def test_schedule_of_luong():
    """Rate 1 with plain SGD; after five epochs, here of 1000 steps, halved every epoch."""
    hparams = TransformerHParams().override(
        "optimizer=sgd,learning_rate_schedule=constant*halving,learning_rate_constant=1.0,"
        "learning_rate_halving_start=5000,learning_rate_halving_steps=1000"
    )
    rate = make_schedule(hparams, train_steps=10_000)
    epochs = [{float(rate(1000 * epoch + step)) for step in (0, 500, 999)} for epoch in range(10)]
    assert epochs == [{1.0}] * 5 + [{0.5}, {0.25}, {0.125}, {0.0625}, {0.03125}]


@pytest.mark.parametrize(("overrides", "message"), [
    (
        "learning_rate_schedule=constant*halving,learning_rate_halving_start=5",
        "learning_rate_halving_steps: must be positive with the factor halving, got 0",
    ),
    ("learning_rate_halving_start=5", "lacks the factor halving, the only one that reads it"),
    ("learning_rate_schedule=constant*halfing", "unknown factor 'halfing'; known: constant, "),
    ("learning_rate_schedule=constant*halfing", "; did you mean halving?"),
])  # fmt: skip
def test_wrong_schedules(overrides, message):
    with pytest.raises(HParamsError) as caught:
        TransformerHParams().override(overrides)
    assert message in str(caught.value)


SHORT = {
    "demo": dict(learning_rate_warmup_steps=200, learning_rate_decay_steps=1300),
    "long": dict(learning_rate_warmup_steps=8000, learning_rate_decay_steps=5000),
}


def short_hparams(schedule, name):
    return TransformerHParams(
        learning_rate_schedule=schedule, learning_rate_constant=0.003, **SHORT[name]
    )


@pytest.mark.parametrize(
    ("schedule", "name", "steps", "fit"),
    [
        ("constant*linear_warmup*linear_decay", "demo", 30, "warmup_steps=3,learning_rate_decay"),
        ("constant*linear_warmup*linear_decay", "demo", 1000, "learning_rate_decay_steps=900"),
        ("constant*linear_decay", "demo", 100, "learning_rate_decay_steps=100"),
        ("constant*linear_warmup*rsqrt_decay", "long", 1000, "learning_rate_warmup_steps=100"),
        (
            "constant*linear_warmup*cosdecay",
            "demo",
            100,
            "warmup_steps=10,learning_rate_decay_steps=100",
        ),
    ],
)
def test_a_run_that_is_too_short_for_its_schedule_is_warned_of(schedule, name, steps, fit):
    hparams = short_hparams(schedule, name)
    text = length_warning(hparams, train_steps=steps)
    assert text.startswith(f"WARNING: --train_steps={steps} is low") and fit in text
    fitted = hparams.override(text.rpartition("--hparams=")[2])
    assert length_warning(fitted, train_steps=steps) == ""


@pytest.mark.parametrize(
    ("schedule", "name", "steps"),
    [
        ("constant*linear_warmup*linear_decay", "demo", 1500),
        ("constant*linear_warmup*linear_decay", "demo", 1450),
        ("constant*linear_warmup*rsqrt_decay", "long", 8000),
        ("constant*cosdecay", "long", 100),
        # The cosine counts from step 0.
        ("constant*linear_warmup*cosdecay", "demo", 1300),
        ("constant", "long", 1),
    ],
)
def test_a_run_that_reaches_its_rate_is_not_warned_of(schedule, name, steps):
    assert length_warning(short_hparams(schedule, name), train_steps=steps) == ""


def test_a_run_in_which_the_cosine_rises_again_is_warned_of():
    hparams = short_hparams("constant*linear_warmup*cosdecay", "demo")
    text = length_warning(hparams, train_steps=1500)
    assert text.startswith("WARNING: --train_steps=1500 is high")
    assert "cosdecay reaches 0 at step 1300 and rises again" in text
    rate = make_schedule(hparams, train_steps=1500)
    assert float(rate(1300)) < 1e-6 < float(rate(1499))
    fitted = hparams.override(text.rpartition("--hparams=")[2])
    assert length_warning(fitted, train_steps=1500) == ""
