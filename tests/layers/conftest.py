"""What every layer owes, checked by one fixture."""

import inspect
import json
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
from random_weights import randomize

from t2t_phrase.compile import traced


@pytest.fixture
def check_layer(tmp_path: pathlib.Path) -> Callable[..., None]:
    """Return a function that checks the contract of a layer.

    Args of the function:
        make: returns a new layer of the dtype policy `dtype`.
        inputs: arrays, the layer's positional arguments.
        weights: how many numbers the layer learns.
        options: other arguments of the call.
    """

    def check(
        make: Callable[..., keras.layers.Layer],
        inputs: Sequence[np.ndarray],
        *,
        weights: int,
        options: dict[str, Any] | None = None,
    ) -> None:
        options = options or {}
        layer = make(dtype="float32")
        first(layer(*inputs, **options))
        assert sum(int(np.prod(v.shape)) for v in layer.trainable_variables) == weights
        paths = [v.path for v in layer.trainable_variables]
        assert len(set(paths)) == len(paths)
        randomize(layer)
        expected = first(layer(*inputs, **options))
        check_round_trip(layer, inputs, options, expected)
        check_saving(layer, inputs, tmp_path / "model.keras")
        for xla in (False, True):
            compiled = traced(lambda *arrays: first(layer(*arrays, **options)), jit_compile=xla)
            np.testing.assert_allclose(compiled(*inputs), expected, atol=1e-5)
        for policy in ("mixed_bfloat16", "mixed_float16"):
            check_policy(make, policy, layer, inputs, options, expected)
        check_gradient_step(layer, inputs, options, expected)

    return check


def first(output: Any) -> Any:
    return output[0] if isinstance(output, tuple) else output


def arguments(cls: type) -> set[str]:
    """Return the keyword arguments of a layer's constructor and its parents' in this project."""
    return {
        name
        for parent in cls.__mro__
        if parent.__module__.startswith("t2t_phrase.")
        for name, parameter in inspect.signature(parent.__init__).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def check_round_trip(layer: Any, inputs: Any, options: Any, expected: Any) -> None:
    def as_json(value: Any) -> Any:
        return json.loads(json.dumps(value))

    serialize = keras.saving.serialize_keras_object
    config = layer.get_config()
    for name in arguments(type(layer)):
        assert name in config, f"get_config of {type(layer).__name__} lacks {name}"
        value = getattr(layer, name)
        assert isinstance(value, keras.Layer) or config[name] == value
    copies = [
        type(layer).from_config(as_json(layer.get_config())),
        keras.saving.deserialize_keras_object(as_json(serialize(layer))),
    ]
    for copy in copies:
        copy(*inputs, **options)
        assert as_json(copy.get_config()) == as_json(layer.get_config())
        copy.set_weights(layer.get_weights())
        np.testing.assert_array_equal(first(copy(*inputs, **options)), expected)


def check_saving(layer: Any, inputs: Any, path: pathlib.Path) -> None:
    """Build a model around the layer by symbols, save it, and load it."""
    symbols = [keras.Input(x.shape[1:], dtype=x.dtype.name) for x in inputs]
    output = first(layer(*symbols))
    assert tuple(output.shape[1:]) == tuple(first(layer(*inputs)).shape[1:])
    model = keras.Model(symbols, output)
    model.save(path)
    loaded = keras.models.load_model(path)
    np.testing.assert_array_equal(loaded(list(inputs)), first(layer(*inputs)))


def check_policy(
    make: Any, policy: str, layer: Any, inputs: Any, options: Any, expected: Any
) -> None:
    mixed = make(dtype=policy)
    output = first(mixed(*inputs, **options))
    assert output.dtype.name == policy.removeprefix("mixed_")
    assert {v.dtype for v in mixed.trainable_variables} == {"float32"}
    mixed.set_weights(layer.get_weights())
    output = tf.cast(first(mixed(*inputs, **options)), tf.float32).numpy()
    scale = np.abs(expected).max()
    np.testing.assert_allclose(output / scale, expected / scale, atol=0.05)


def check_gradient_step(layer: Any, inputs: Any, options: Any, expected: Any) -> None:
    target = np.random.default_rng(7).normal(size=expected.shape)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(first(layer(*inputs, **options)) * target)
    gradients = tape.gradient(loss, [v.value for v in layer.trainable_variables])
    for variable, gradient in zip(layer.trainable_variables, gradients, strict=True):
        assert gradient is not None, f"{variable.path} has no gradient"
        gradient = tf.convert_to_tensor(gradient).numpy()
        assert np.isfinite(gradient).all()
        assert np.abs(gradient).max() > 0, f"{variable.path} has no influence"
    before = layer.get_weights()
    keras.optimizers.SGD(0.01).apply(gradients, layer.trainable_variables)
    assert all((a != b).any() for a, b in zip(before, layer.get_weights(), strict=True))
    assert np.abs(first(layer(*inputs, **options)) - expected).max() > 0
