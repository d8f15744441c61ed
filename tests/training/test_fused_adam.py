"""Adam as one operation for each variable."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import traced
from t2t_phrase.training.fused_adam import FusedAdam

OPTIONS = {"beta_1": 0.9, "beta_2": 0.99, "epsilon": 1e-3}
SHAPES = [(3, 4), (5,)]
DRAW = np.random.default_rng(0)
GRADIENTS = [[DRAW.normal(size=shape).astype("float32") for shape in SHAPES] for _ in range(4)]


RATE = keras.optimizers.schedules.InverseTimeDecay(0.1, decay_steps=1, decay_rate=1)


def variables():
    draw = np.random.default_rng(1)
    return [keras.Variable(draw.normal(size=shape).astype("float32")) for shape in SHAPES]


def updated(optimizer):
    trained = variables()
    optimizer.build(trained)
    update = traced(lambda gradients: optimizer.apply(gradients, trained))
    for gradients in GRADIENTS:
        update([tf.constant(gradient) for gradient in gradients])
    return [np.asarray(variable) for variable in (*trained, *optimizer.variables)]


def test_it_computes_the_equations_of_adam():
    found = updated(FusedAdam(learning_rate=RATE, **OPTIONS))
    for place, variable in enumerate(variables()):
        x = np.asarray(variable, "float64")
        m, v = np.zeros_like(x), np.zeros_like(x)
        for step, gradients in enumerate(GRADIENTS):
            gradient = gradients[place].astype("float64")
            m = 0.9 * m + 0.1 * gradient
            v = 0.99 * v + 0.01 * gradient**2
            corrected = np.sqrt(1 - 0.99 ** (step + 1)) / (1 - 0.9 ** (step + 1))
            x -= 0.1 / (1 + step) * corrected * m / (np.sqrt(v) + 1e-3)
        np.testing.assert_allclose(found[place], x, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"amsgrad": True}, {"weight_decay": 0.1}])
def test_variables_and_options_are_those_of_keras(options):
    ours, theirs = (
        kind(learning_rate=RATE, **OPTIONS, **options)
        for kind in (FusedAdam, keras.optimizers.Adam)
    )
    for found, expected in zip(updated(ours), updated(theirs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert [v.shape for v in ours.variables] == [v.shape for v in theirs.variables]
    assert ours.get_config().keys() == theirs.get_config().keys()
