import keras
import numpy as np
import pytest

from t2t_phrase.training.kernel_muon import KernelMuon


def orthogonalized(x, steps=5, a=3.4445, b=-4.7750, c=2.0315):
    """The iteration of Muon in float64, for a matrix (m, n)."""
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = x / np.sqrt((x**2).sum())
    for _ in range(steps):
        square = x @ x.T
        x = a * x + (b * square + c * square @ square) @ x
    return x.T if tall else x


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (2, 3, 4), (3, 5, 7), (2, 2, 3, 9)])
def test_updates_of_a_kernel_against_numpy(shape):
    random = np.random.default_rng(1)
    start = random.normal(size=shape)
    gradients = random.normal(size=(3, *shape))
    optimizer = KernelMuon(0.01, weight_decay=None)
    variable = keras.Variable(start, dtype="float32", name="kernel")
    momentum, expected = np.zeros(shape), start
    for gradient in gradients:
        optimizer.apply([keras.ops.convert_to_tensor(gradient, "float32")], [variable])
        momentum = 0.95 * momentum + gradient
        nesterov = (gradient + 0.95 * momentum).reshape(-1, shape[-1])
        step = 0.01 * 0.2 * np.sqrt(max(nesterov.shape)) * orthogonalized(nesterov)
        expected = expected - step.reshape(shape)
    np.testing.assert_allclose(keras.ops.convert_to_numpy(variable), expected, atol=1e-5)


@pytest.mark.parametrize(("shape", "name"), [
    ((5,), "bias"), ((3, 5), "bias"), ((2, 6), "weights"), ((8, 4), "softmax_embeddings"),
    ((8, 4), "embeddings"),
])  # fmt: skip
def test_what_is_no_kernel_is_updated_by_adam(shape, name):
    random = np.random.default_rng(2)
    start, gradient = random.normal(size=(2, *shape))
    muon = KernelMuon(0.01, adam_weight_decay=None, weight_decay=None, epsilon=1e-7)
    adam = keras.optimizers.Adam(0.01, epsilon=1e-7)
    variables = []
    for optimizer in (muon, adam):
        variable = keras.Variable(start, dtype="float32", name=name)
        for _ in range(3):
            optimizer.apply([keras.ops.convert_to_tensor(gradient, "float32")], [variable])
        variables.append(keras.ops.convert_to_numpy(variable))
    np.testing.assert_allclose(*variables, atol=1e-6)


@pytest.mark.parametrize(("kernels", "others"), [(0.3, 0.0), (0.0, 0.2), (0.3, 0.2), (0.0, 0.0)])
def test_each_kind_has_its_own_weight_decay(kernels, others):
    optimizer = KernelMuon(0.1, weight_decay=kernels, adam_weight_decay=others)
    variables = [
        keras.Variable(np.full(shape, 2.0), dtype="float32", name=name)
        for shape, name in [((2, 3, 4), "kernel"), ((5,), "bias")]
    ]
    optimizer.apply([keras.ops.zeros(variable.shape) for variable in variables], variables)
    for variable, decay in zip(variables, [kernels, others], strict=True):
        np.testing.assert_allclose(
            keras.ops.convert_to_numpy(variable), 2.0 * (1 - 0.1 * decay), rtol=1e-6
        )
