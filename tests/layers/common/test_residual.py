from collections.abc import Callable

import numpy as np
import pytest
import reference_transformer as reference

from t2t_phrase.layers.common.residual import Residual

RNG = np.random.default_rng(0)
X, OUTPUT = RNG.normal(size=(2, 2, 3, 4)).astype("float32")
SCALE, OFFSET = RNG.normal(size=(2, 4)).astype("float32")


def make(norm: str, dropout: float = 0.0) -> Residual:
    layer = Residual(norm=norm, dropout=dropout)  # type: ignore[arg-type]
    layer.build((None, None, 4))
    layer.set_weights([SCALE, OFFSET])
    return layer


def normed(x: np.ndarray) -> np.ndarray:
    return np.array([[reference.layer_norm(row, SCALE, OFFSET) for row in rows] for rows in x])


def test_contract(check_layer: Callable) -> None:
    check_layer(lambda dtype: Residual(norm="post", dtype=dtype), [X, OUTPUT], weights=8)


def test_pre_norm_normalises_the_sublayers_input() -> None:
    layer = make("pre")
    np.testing.assert_allclose(layer.before(X), normed(X), atol=1e-5)
    np.testing.assert_allclose(layer(X, OUTPUT), X + OUTPUT, atol=1e-6)


def test_post_norm_normalises_the_sum() -> None:
    layer = make("post")
    np.testing.assert_array_equal(layer.before(X), X)
    np.testing.assert_allclose(layer(X, OUTPUT), normed(X + OUTPUT), atol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_new_layer_begins_with_the_sublayers_input(norm: str) -> None:
    layer = Residual(norm=norm, name="around")  # type: ignore[arg-type]
    found = layer(X, layer.before(X))
    assert [v.path for v in layer.variables] == ["around/norm/gamma", "around/norm/beta"]
    layer.set_weights([SCALE, OFFSET])
    np.testing.assert_allclose(layer(X, layer.before(X)), make(norm)(X, make(norm).before(X)))
    assert found.shape == X.shape


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_dropout_spares_the_residual(norm: str) -> None:
    layer = make(norm, dropout=0.5)
    zeros = np.zeros_like(OUTPUT)
    np.testing.assert_array_equal(layer(X, zeros, training=True), layer(X, zeros))
    assert np.abs(layer(X, OUTPUT, training=True) - layer(X, OUTPUT)).max() > 0


def test_an_unknown_norm() -> None:
    with pytest.raises(ValueError, match='norm must be "pre" or "post", got \'none\''):
        make("none")
