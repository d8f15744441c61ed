"""Learning rates against tensor2tensor's formulas, written out."""

import math

import pytest

from t2t_phrase.training.schedules import FactorSchedule
from t2t_phrase.training_hparams import SCHEDULE_FACTORS

W, N, D, TRAIN = 40, 30, 64, 100
STEPS = (0, 1, 39, 40, 41, 75, 99, 100, 250)

EXPECTED = {
    "constant": lambda step: 2.0,
    "linear_warmup": lambda step: min(1, step / W),
    "rsqrt_decay": lambda step: 1 / math.sqrt(max(step, W)),
    "rsqrt_hidden_size": lambda step: D**-0.5,
    "linear_decay": lambda step: min(1, max(0, (TRAIN - step) / N)),
    "cosdecay": lambda step: 1 if step <= W else 0.5 * (1 + math.cos(math.pi * step / N)),
}


def schedule(factors):
    return FactorSchedule(
        factors, constant=2.0, warmup_steps=W, decay_steps=N, hidden_size=D, train_steps=TRAIN
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


def test_config_round_trip():
    rate = schedule("constant*linear_decay")
    again = FactorSchedule.from_config(rate.get_config())
    assert float(again(90)) == float(rate(90))
