"""The loop on a network that knows the answers, and one that unlearns."""

import keras
import numpy as np
import pytest
from keras import ops

from t2t_phrase.probing import training
from t2t_phrase.probing.classes import NONE
from t2t_phrase.probing.examples import VectorExamples
from t2t_phrase.probing.training import Recipe, fit


class Table:
    """Logits are the vectors times a matrix; a further weight is not used."""

    def __init__(self, matrix):
        self.matrix = keras.Variable(np.array(matrix, "float32"), name="matrix")
        self.unused = keras.Variable(np.ones(3, "float32"), name="unused")
        self.trainable_variables = [self.matrix, self.unused]

    def logits(self, features, training=False):
        return ops.matmul(features["vectors"], ops.convert_to_tensor(self.matrix))


def examples(labels):
    """Return one-hot vectors, one sentence of a word for each label."""
    vectors = [np.eye(2, dtype="float32")[[i % 2]] for i in range(len(labels))]
    return VectorExamples(vectors, [np.array([label], "int32") for label in labels])


def run(network, train, dev, test, **changes):
    recipe = Recipe(
        **{"rate": 0.1, "warmup": 0, "batch_size": 4, "max_epochs": 9, "patience": 2, **changes}
    )
    log = []
    splits = {"train": examples(train), "dev": examples(dev), "test": examples(test)}
    return fit(network, splits, recipe, seed=1, log=log.append), log


def test_the_best_epoch_is_kept_and_training_stops(monkeypatch):
    # No reports of epochs that take long.
    monkeypatch.setattr(training, "_PAUSE", 3600.0)
    monkeypatch.setattr(training, "_PERIOD", 3600.0)
    # Training teaches the opposite of what the development split wants.
    network = Table([[1, 0], [0, 1]])
    fitted, log = run(network, [1, 0] * 4, [0, 1] * 4, [0, 1], rate=0.1)
    assert fitted[:3] == (1.0, 1, 6)
    assert [found.tolist() for found in fitted.predictions] == [[0], [1]]
    assert np.array(network.matrix)[0, 0] == pytest.approx(0.8, abs=0.01)
    assert log == ["stopped at epoch 3, step 6: best dev 100.00%"]


def test_what_has_no_label_or_an_unknown_one():
    # Without labels nothing is counted; a label that training lacks counts as wrong.
    network = Table([[5, 0], [0, 5]])
    fitted, _ = run(network, [0, 1, NONE, NONE], [0, 1, NONE, 2], [0, NONE, 2, 2], max_epochs=1)
    assert fitted.dev == pytest.approx(2 / 3)
    assert [found.tolist() for found in fitted.predictions] == [[0], [], [0], [1]]


def test_equal_accuracy_is_decided_by_likelihood():
    network = Table([[0.1, 0], [0, 0.1]])
    fitted, _ = run(network, [0, 1] * 4, [0, 1], [0, 1], max_epochs=5)
    assert fitted.epoch == 5 and fitted.dev == 1.0


def test_weights_that_are_not_used_stay():
    network = Table([[0, 0], [0, 0]])
    run(network, [0, 1] * 4, [0, 1], [0, 1])
    assert np.array(network.unused).tolist() == [1, 1, 1]
    assert np.array(network.matrix)[0, 0] > 0.1


def test_the_rate_rises():
    change = []
    for warmup in (0, 1000):
        network = Table([[0, 0], [0, 0]])
        run(network, [0, 1] * 4, [0, 1], [0, 1], warmup=warmup, max_epochs=1)
        change.append(np.abs(np.array(network.matrix)).max())
    assert change[1] < change[0] / 100
