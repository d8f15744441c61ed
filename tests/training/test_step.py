import functools

import keras
import numpy as np
import pytest
import tensorflow as tf
from tiny_training import VOCAB_SIZE, TinyModel, make_stepper, weights

from t2t_phrase.features import PHRASES, Feature
from t2t_phrase.models.base import Loss, Mean


def ids(rows, length, seed=0):
    return np.random.default_rng(seed).integers(3, VOCAB_SIZE, (rows, length)).astype(np.int32)


def both(inputs, targets):
    return {"inputs": inputs, "targets": targets}


def set_weights(stepper, values):
    for variable, value in zip(stepper.trainable, values.values(), strict=True):
        variable.assign(value)


@pytest.mark.parametrize(
    ("mean", "auxiliary"), [("tokens", False), ("tokens", True), ("sentences", False)]
)
def test_gradient_is_that_of_the_mean_objective(mean, auxiliary):
    stepper = make_stepper(auxiliary=auxiliary, gradient_mean=mean)
    inputs, targets = ids(4, 6), ids(4, 6, seed=1)
    targets[0, 2:] = 0
    # A row without a sentence.
    inputs[3] = targets[3] = 0
    count = {"tokens": np.count_nonzero(targets), "sentences": 3}[mean]
    with tf.GradientTape() as tape:
        loss = stepper.model.batch_loss(both(inputs, targets))
        objective = loss.objective / count
    gradients = tape.gradient(objective, [variable.value for variable in stepper.trainable])
    gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
    twin = keras.optimizers.Adam(0.01)
    expected = [tf.Variable(variable.value) for variable in stepper.trainable]
    twin.apply_gradients(zip(gradients, expected, strict=True))
    result = stepper.train(both(inputs, targets))
    assert float(result.tokens) == np.count_nonzero(targets)
    assert float(result.objective) == pytest.approx(float(loss.objective), rel=1e-5)
    assert result.means.keys() == loss.means.keys()
    for name, mean in loss.means.items():
        np.testing.assert_allclose(result.means[name], mean, rtol=1e-5)
    norm = np.sqrt(sum(np.sum(np.square(gradient)) for gradient in gradients))
    assert float(result.grad_norm) == pytest.approx(norm, rel=1e-5)
    for value, variable in zip(expected, stepper.trainable, strict=True):
        np.testing.assert_allclose(variable.value, value, atol=1e-6)


def test_rows_of_padding_change_nothing():
    stepper = make_stepper()
    before = weights(stepper)
    inputs, targets = ids(4, 6), ids(4, 6, seed=1)
    alone = stepper.train(both(inputs, targets))
    after = weights(stepper)
    twin = make_stepper()
    set_weights(twin, before)
    padded = [np.pad(array, [(0, 3), (0, 2)]) for array in (inputs, targets)]
    together = twin.train(both(*padded))
    np.testing.assert_allclose(float(together.objective), float(alone.objective), rtol=1e-5)
    for name, value in weights(twin).items():
        np.testing.assert_allclose(value, after[name], atol=1e-6)


@pytest.mark.parametrize(("mean", "xla"), [("tokens", False), ("sentences", True)])
def test_parts_add_up_to_the_whole_batch(mean, xla):
    """Parts of 11, 2 and no tokens: a mean of their means would be another gradient."""
    inputs, targets = ids(6, 6), ids(6, 6, seed=1)
    targets[0, 5:] = targets[2:4, 1:] = inputs[4:] = targets[4:] = 0
    options = {"auxiliary": True, "gradient_mean": mean, "clip_grad_norm": 0.05}
    optimizer = functools.partial(keras.optimizers.SGD, momentum=0.9)
    whole = make_stepper(optimizer=optimizer, **options)
    parts = make_stepper(optimizer=optimizer, parts=3, xla=xla, **options)
    for _ in range(2):
        expected, found = whole.train(both(inputs, targets)), parts.train(both(inputs, targets))
        assert float(found.grad_norm) == pytest.approx(float(expected.grad_norm), rel=1e-5)
        assert float(found.grad_norm) > 0.05
        assert float(found.objective) == pytest.approx(float(expected.objective), rel=1e-5)
        assert float(found.tokens) == float(expected.tokens) == 13
        for name, figure in expected.means.items():
            np.testing.assert_allclose(found.means[name], figure, rtol=1e-5)
    for name, value in weights(whole).items():
        np.testing.assert_allclose(weights(parts)[name], value, atol=1e-7)
    assert int(parts.optimizer.iterations) == 2 and parts.compilations == 1
    assert parts.evaluate(both(inputs, targets))["loss"].count == 13


def test_dropout_is_a_function_of_seed_and_step():
    def losses(seed, start):
        stepper = make_stepper(dropout=0.5, rate=0.0, seed=3)
        stepper.seed = seed
        stepper.optimizer.iterations.assign(start)
        return [float(stepper.train(both(ids(4, 6), ids(4, 6))).objective) for _ in range(3)]

    first = losses(3, 0)
    assert len(set(first)) == 3
    assert losses(3, 0) == first
    assert losses(3, 1)[:2] == first[1:]
    assert set(losses(4, 0)).isdisjoint(first)


def test_every_layer_shard_and_step_has_its_own_random_state():
    stepper = make_stepper(dropout=0.5, parts=2)
    stepper.generators = stepper.generators * 3

    def states(shard):
        return {tuple(np.array(s)) for s in stepper._seeds(tf.constant(shard, tf.int64))}

    found = states(0) | states(1)
    stepper.optimizer.iterations.assign(1)
    found |= states(0) | states(1)
    assert len(found) == 2 * 2 * 3
    # A layer that is used several times draws from the states that follow.
    assert np.diff(sorted(place for _, place in found)).min() > 100


def test_parts_draw_different_dropout_masks():
    once, twice = both(ids(1, 6), ids(1, 6)), both(*[np.repeat(ids(1, 6), 2, axis=0)] * 2)
    for dropout in (0.0, 0.5):
        alone = make_stepper(dropout=dropout).train(once).objective
        found = make_stepper(dropout=dropout, parts=2).train(twice).objective
        # The first part of the first step has the masks of a batch without parts.
        assert np.isclose(found, 2 * alone, rtol=1e-4) == (dropout == 0)


def test_no_dropout_in_evaluation():
    stepper = make_stepper(dropout=0.5)
    one = stepper.evaluate(both(ids(4, 6), ids(4, 6)))
    assert one == stepper.evaluate(both(ids(4, 6), ids(4, 6)))
    assert one["loss"].count == 24


def test_one_trace_serves_all_shapes_and_steps():
    lines = []
    stepper = make_stepper(log=lines.append)
    for rows, length in ((4, 6), (2, 9), (4, 6), (3, 12)):
        stepper.train(both(ids(rows, length), ids(rows, length)))
        stepper.evaluate(both(ids(rows, length), ids(rows, length)))
    assert stepper.compilations == 2
    assert [line.partition(" step")[0] for line in lines] == [
        "traced the train",
        "traced the evaluation",
    ]


def test_xla_compiles_once_for_each_shape_and_computes_the_same():
    lines = []
    plain, xla = make_stepper(), make_stepper(xla=True, log=lines.append)
    for rows, length in ((4, 6), (2, 9), (4, 6), (2, 9)):
        inputs, targets = ids(rows, length), ids(rows, length, seed=1)
        expected, found = plain.train(both(inputs, targets)), xla.train(both(inputs, targets))
        np.testing.assert_allclose(float(found.objective), float(expected.objective), rtol=1e-5)
    assert xla.compilations == 2
    assert lines[0].startswith("compiled the train step for 4 x 6 tokens in ")
    assert lines[1].startswith("compiled the train step for 2 x 9 tokens in ")


def test_gradients_are_clipped_by_their_norm():
    inputs, targets = ids(4, 6), ids(4, 6, seed=1)
    steppers = {limit: make_stepper(clip_grad_norm=limit) for limit in (0.0, 1e-3)}
    norms = {
        limit: float(s.train(both(inputs, targets)).grad_norm) for limit, s in steppers.items()
    }
    assert norms[0.0] == pytest.approx(norms[1e-3], rel=1e-6) and norms[0.0] > 1e-2
    slots = {
        limit: [v.value for v in s.optimizer.variables if v.name.endswith("_momentum")]
        for limit, s in steppers.items()
    }
    # Adam's first momentum is 0.1 times the gradient.
    assert float(tf.linalg.global_norm(slots[0.0])) == pytest.approx(0.1 * norms[0.0], rel=1e-4)
    assert float(tf.linalg.global_norm(slots[1e-3])) == pytest.approx(1e-4, rel=1e-4)


def test_probe_changes_nothing():
    stepper = make_stepper(dropout=0.5)
    before = weights(stepper)
    stepper.probe(both(ids(4, 6), ids(4, 6)))
    assert int(stepper.optimizer.iterations) == 0
    for name, value in weights(stepper).items():
        np.testing.assert_array_equal(value, before[name])


TAGS = Feature(name="tags", side="target", stream="tags")


class Counting(TinyModel):
    """Reports the largest phrase and the sum of the target tags."""

    def batch_loss(self, features, training=False):
        loss = super().batch_loss(features, training)
        means = {
            "phrases": Mean(tf.cast(tf.reduce_max(features["phrases"]), tf.float32), 1.0),
            "tags": Mean(tf.cast(tf.reduce_sum(features["tags"]), tf.float32), 1.0),
        }
        return Loss(loss.objective, {**loss.means, **means})


def test_features_of_both_sides_reach_the_model():
    stepper = make_stepper(make_model=Counting, features=(PHRASES, TAGS))
    fake = stepper.fake_features(4, 6, 3)
    assert {name: value.shape for name, value in fake.items()} == {
        **{"inputs": (4, 6), "phrases": (4, 6), "targets": (4, 3), "tags": (4, 3)}
    }
    assert not (fake["phrases"] - PHRASES.pad).any() and not (fake["tags"] - TAGS.pad).any()
    numbered = {
        **fake,
        "phrases": np.tile(np.arange(1, 7, dtype="int32"), (4, 1)),
        "tags": np.tile(np.arange(1, 4, dtype="int32"), (4, 1)),
    }
    result, evaluated = stepper.train(numbered), stepper.evaluate(numbered)
    for means in (result.means, evaluated):
        assert float(means["phrases"].total) == 6 and float(means["tags"].total) == 4 * (1 + 2 + 3)
    assert set(make_stepper().fake_features(4, 6, 6)) == {"inputs", "targets"}


def test_sides_of_different_lengths_compile_by_their_shapes():
    lines = []
    stepper = make_stepper(xla=True, log=lines.append)
    for source, target in ((6, 9), (9, 6), (6, 9)):
        stepper.train(both(ids(4, source), ids(4, target)))
    assert stepper.compilations == 2
    assert lines[0].startswith("compiled the train step for 4 x 6 and 4 x 9 tokens in ")


def test_variables_stay_float32_in_mixed_bfloat16():
    stepper = make_stepper(dtype="mixed_bfloat16")
    before = weights(stepper)
    assert np.isfinite(float(stepper.train(both(ids(4, 6), ids(4, 6))).objective))
    for name, value in weights(stepper).items():
        assert value.dtype == np.float32
        assert not np.array_equal(value, before[name])
    assert {v.dtype for v in stepper.optimizer.variables[1:]} == {"float32"}


def test_sentences_of_packed_rows_are_counted_one_by_one():
    features = both(ids(3, 6), ids(3, 6, seed=1))
    numbers = np.array([[1, 1, 2, 3, 3, 3], [1, 1, 1, 1, 1, 0], [0] * 6], np.int32)
    features["targets"][numbers == 0] = 0
    norms = {}
    for mean in ("tokens", "sentences"):
        stepper = make_stepper(gradient_mean=mean, packed=True)
        result = stepper.train({**features, "source_pairs": numbers, "target_pairs": numbers})
        norms[mean] = float(result.grad_norm)
        # Evaluation is never packed.
        assert stepper.evaluate(features)["loss"].count == 11
    # The sum over tokens is divided by 11 tokens or 4 sentences.
    assert norms["sentences"] / norms["tokens"] == pytest.approx(11 / 4, rel=1e-5)


def test_a_probe_of_packed_rows_has_their_features():
    stepper = make_stepper(packed=True)
    stepper.probe(stepper.fake_features(2, 8, 8))
    assert stepper.compilations == 1
