"""Training on two devices is training on one, on the joined batch."""

from __future__ import annotations

import json

import forked
import numpy as np

# Logical devices must be created before TensorFlow starts, hence in another process.
BEFORE = """
import json, sys
import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
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
name = sys.argv[1]
"""
AFTER = """
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
        features=hparams.training_features,
        clip_grad_norm=hparams.clip_grad_norm,
        gradient_mean=hparams.gradient_mean,
        packed=hparams.packed_length > 0,
    )
    losses = [float(stepper.train(features).objective) for _ in range(3)]
    found.append({"replicas": stepper.replicas, "losses": losses})
print(json.dumps(found))
"""


def assert_two_devices_are_one(setup: str, name: str) -> None:
    """Check the losses of three updates.

    Args:
        setup: source that makes `hparams` of `name`, and may add to `features`; there are `batch`
            (2, 4, 9), the ids of both sides, and `random`, a generator. No update may be tiny.
        name: for the setup.
    """
    ended = forked.run_source(f"{BEFORE}{setup}{AFTER}", name)
    assert ended.code == 0, ended.err
    two, one = json.loads(ended.out)
    assert (two["replicas"], one["replicas"]) == (2, 1)
    # Later losses tell of the gradients: they come after updates.
    np.testing.assert_allclose(two["losses"], one["losses"], rtol=1e-4)
    assert len({round(loss, 3) for loss in one["losses"]}) == 3
