"""Updates by JAX are those by TensorFlow, to rounding, and the same on several devices."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
from jax_process import needs_jax
from small_phrase_models import SMALL
from updates import by_jax, by_tensorflow

DROPPED = {"attention_dropout": 0.1, "relu_dropout": 0.1, "layer_prepostprocess_dropout": 0.2}
TINY = {**SMALL.to_dict(), **DROPPED}


def assert_same(found: dict[str, Any], expected: dict[str, Any], rtol: float = 1e-5) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if name == "compilations":
            continue
        np.testing.assert_allclose(found[name], value, rtol=rtol, atol=20 * rtol, err_msg=name)


@needs_jax
def test_updates_of_a_transformer_are_those_of_tensorflow(tmp_path: pathlib.Path) -> None:
    options = {"hparams": TINY, "model": "transformer"}
    found, expected = by_jax(tmp_path, **options), by_tensorflow(**options)
    assert_same(found, expected)
    assert len(set(found["losses"])) == 3
