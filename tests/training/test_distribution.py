import json

import forked
import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.training.distribution import make_strategy

# Logical devices must be made before TensorFlow starts: a process of its own.
SCRIPT = """
import json
import sys

import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
from tiny_training import VOCAB_SIZE, TinyModel, make_stepper, weights
from t2t_phrase.models.base import Loss, Mean
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.training.distribution import make_strategy
from t2t_phrase.training.optimizers import make_optimizer

ONE, TWO = make_strategy(), make_strategy(devices=["CPU:0", "CPU:1"])
random = np.random.default_rng(0)
batches = []
for length in (6, 9, 6, 12):
    batch = random.integers(3, VOCAB_SIZE, (2, 4, length)).astype(np.int32)
    batch[:, 3] = 0  # rows of padding fall to one device
    batch[1, 0, 4:] = 0
    batches.append(dict(zip(("inputs", "targets"), batch)))


def train(strategy, **options):
    stepper = make_stepper(strategy=strategy, auxiliary=True, **options)
    results = [stepper.train(batch) for batch in batches]
    return {
        "replicas": stepper.replicas,
        "norms": [float(result.grad_norm) for result in results],
        "objectives": [float(result.objective) for result in results],
        "means": [[n, *map(float, m)] for n, m in results[-1].means.items()],
        "evaluated": [[n, *m] for n, m in stepper.evaluate(batches[0]).items()],
        "weights": {name: value.tolist() for name, value in weights(stepper).items()},
    }


"""
DEVICES = """
def reductions():
    calls, before = [], tf.distribute.ReplicaContext.all_reduce
    def counted(self, *args, **options):
        calls.append(self.replica_id_in_sync_group)
        return before(self, *args, **options)
    tf.distribute.ReplicaContext.all_reduce = counted
    make_stepper(strategy=TWO).train(batches[0])
    tf.distribute.ReplicaContext.all_reduce = before
    return len(calls)


def regularized(*_):
    from t2t_phrase.models.transformer import Transformer
    sizes = dict(num_hidden_layers=1, hidden_size=8, filter_size=16, num_heads=2)
    dropped = dict(r_drop=1.0, source_word_dropout=0.3, target_word_dropout=0.3)
    return Transformer.from_hparams(
        TransformerHParams(**sizes, **dropped), vocab_size=VOCAB_SIZE
    )


found = {
    "clipped": [train(s, clip_grad_norm=0.05) for s in (TWO, ONE)],
    "xla": [train(TWO, xla=True), train(ONE)],
    "parts": [train(TWO, dropout=0.5, parts=2), train(ONE, dropout=0.5, parts=4)],
    "regularized": [
        train(TWO, make_model=regularized, parts=2),
        train(ONE, make_model=regularized, parts=4),
    ],
    "reductions": reductions(),
}
for name in sys.argv[1:]:
    hparams = TransformerHParams().override(name)
    found[name] = [
        train(s, optimizer=lambda rate: make_optimizer(hparams, rate)) for s in (TWO, ONE)
    ]
print(json.dumps(found))
"""
OPTIMIZERS = (
    "optimizer=sgd,optimizer_momentum=0.9",
    "optimizer=adamw",
    "optimizer=adafactor",
)
MASKS = """
class MaskDifference(TinyModel):
    # A number made of the dropout mask, times the sign that the first input of a replica gives.
    def batch_loss(self, features, training=False):
        loss = super().batch_loss(features, training)
        kept = self.drop(tf.ones((1, 64)), training=training)[0]
        number = tf.reduce_sum(tf.cast(kept != 0, tf.float32) * tf.range(1.0, 65.0))
        sign = tf.where(features["inputs"][0, 0] == 3, 1.0, -1.0)
        return Loss(loss.objective, {**loss.means, "difference": Mean(sign * number, 1.0)})


ids = np.full((2, 5), 4, np.int32)
ids[0] = 3
found = {}
for dropout in (0.0, 0.5):
    stepper = make_stepper(strategy=TWO, dropout=dropout, make_model=MaskDifference)
    results = [stepper.train({"inputs": ids, "targets": ids}) for _ in range(3)]
    found[dropout] = [float(result.means["difference"].total) for result in results]
print(json.dumps(found))
"""


def run_script(script, *arguments):
    ended = forked.run_source(SCRIPT + script, *arguments)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


@pytest.fixture(scope="module")
def devices():
    return run_script(DEVICES, *OPTIMIZERS)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["clipped", "xla", *OPTIMIZERS])
def test_two_devices_are_one_on_the_joined_batch(devices, case):
    """XLA on two devices equals a graph on one; sgd feels every factor of the gradient."""
    two, one = devices[case]
    assert (two["replicas"], one["replicas"]) == (2, 1)
    np.testing.assert_allclose(two["norms"], one["norms"], rtol=1e-5)
    np.testing.assert_allclose(two["objectives"], one["objectives"], rtol=1e-5)
    for kind in ("means", "evaluated"):
        for (name, *mean), (other, *expected) in zip(two[kind], one[kind], strict=True):
            assert name == other and mean == pytest.approx(expected, rel=1e-5)
    for name, value in one["weights"].items():
        np.testing.assert_allclose(two["weights"][name], value, atol=2e-6)


@pytest.mark.slow
def test_parts_on_one_device_are_those_on_two(devices):
    """Their rows and their dropout are the same, so only rounding differs."""
    test_two_devices_are_one_on_the_joined_batch(devices, "parts")
    without_dropout = devices["xla"][1]["objectives"]
    assert not np.allclose(devices["parts"][1]["objectives"], without_dropout, rtol=1e-3)


@pytest.mark.slow
def test_r_drop_and_word_dropout_of_parts_are_those_on_two(devices):
    two, one = devices["regularized"]
    np.testing.assert_allclose(two["objectives"], one["objectives"], rtol=1e-5)
    for name, value in one["weights"].items():
        np.testing.assert_allclose(two["weights"][name], value, atol=2e-5)
    assert dict((name, mean) for name, *mean in one["means"])["divergence"][0] > 0


@pytest.mark.slow
def test_gradients_and_figures_take_one_reduction(devices):
    assert devices["reductions"] == 2  # one call of each replica


def test_replicas_draw_different_dropout_masks():
    found = run_script(MASKS)
    assert found["0.0"] == [0.0] * 3
    assert 0.0 not in found["0.5"] and len(set(found["0.5"])) == 3


def test_training_on_another_backend_is_refused(monkeypatch):
    monkeypatch.setattr(keras.backend, "backend", lambda: "torch")
    with pytest.raises(UserError, match="KERAS_BACKEND=torch: runs are trained on tensorflow or"):
        make_strategy()


def test_more_gpus_than_there_are():
    count = len(tf.config.list_physical_devices("GPU")) + 1
    with pytest.raises(UserError, match=f"--worker_gpu={count}: TensorFlow finds {count - 1} GPUs"):
        make_strategy(worker_gpu=count)
