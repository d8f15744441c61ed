"""Compiled functions follow their variables, on every backend, without compiling anew."""

import logging
import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from t2t_phrase.compile import compiled, traced, within_xla

SCRIPT = """
import sys
if sys.argv[1] == "jax":
    sys.modules["tensorflow"] = None
import keras
import numpy as np
from random_weights import randomize
from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import Scorer
from t2t_phrase.decoding.translator import Translator
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.text.vocabularies import Vocabularies

assert keras.backend.backend() == sys.argv[1]


class Digits:
    def encode(self, text):
        return [int(word) for word in text.split()]

    encode_batch = lambda self, texts: [self.encode(text) for text in texts]

    def decode(self, ids):
        return " ".join(map(str, ids))


weight = keras.Variable(np.arange(3.0))
traced = []


def scaled(x, *, by):
    traced.append(1)
    return {"out": x * weight * by}


run = compiled(scaled, variables=[weight])
for value in (1.0, 5.0):
    weight.assign(np.full(3, value))
    np.testing.assert_array_equal(run(np.ones(3, "float32"), by=2.0)["out"], [2 * value] * 3)
assert len(traced) == 1

hparams = TransformerHParams(hidden_size=16, filter_size=16, num_heads=2, num_hidden_layers=1)
model = Transformer.from_hparams(hparams, vocab_size=12)
encode, decode = model.encode, model.decode
model.encode = lambda *a, **k: traced.append("encode") or encode(*a, **k)
model.decode = lambda *a, **k: traced.append("decode") or decode(*a, **k)
options = DecodeHParams(beam_size=2, extra_length=4)
vocabularies = Vocabularies(Digits(), Digits())
lines, pairs = ["3 4 5 6", "7 8"], [("3 4 5", "6 7 8"), ("9", "3 3")]
makers = [
    lambda: Translator(model, vocabularies, options).translate,
    lambda: Scorer(model, vocabularies).score,
]
for make, given in zip(makers, (lines, pairs)):
    run, results = make(), []
    for seed in (0, 1):
        randomize(model, seed=seed, deviation=0.5)
        count = len(traced)
        results.append(run(given))
        compilations = len(traced) - count
        assert (compilations == 0) == (seed == 1), traced
        anew = make()(given)
        assert anew == results[-1], (anew, results)
    assert results[0] != results[1], results
print("followed")
"""


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_results_follow_the_weights_without_compiling_anew(backend: str) -> None:
    if backend == "jax":
        pytest.importorskip("jax")
    environment = {
        **os.environ,
        "KERAS_BACKEND": backend,
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, backend], capture_output=True, text=True, env=environment
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "followed\n"


@pytest.mark.parametrize("xla", [False, True])
def test_one_compilation_for_each_shape(xla: bool) -> None:
    traced = []

    def double(x: tf.Tensor) -> tf.Tensor:
        traced.append(x.shape)
        return 2 * x

    run = compiled(double, xla=xla)
    for length in (3, 4, 3):
        np.testing.assert_array_equal(run(np.ones(length)), np.full(length, 2.0))
    assert len(traced) == 2


def test_graphs_for_many_shapes_are_no_warning(monkeypatch):
    logger, records = tf.get_logger(), []
    handler = logging.Handler()
    handler.emit = records.append
    # Other tests may have silenced it.
    for name, value in (("filters", []), ("disabled", False), ("handlers", [handler])):
        monkeypatch.setattr(logger, name, value)
    monkeypatch.setattr(logger, "level", logging.WARNING)
    functions = {tf.function: [], compiled: []}
    for make, found in functions.items():
        run = make(lambda x: 2 * x)
        for length in range(8):
            run(np.ones(length))
        found += [record.getMessage() for record in records]
        records.clear()
    assert any("retracing" in text for text in functions[tf.function])
    assert not functions[compiled]


def test_operations_know_whether_xla_compiles_them():
    found = []

    def note():
        found.append(within_xla())
        return tf.constant(0)

    traced(note)()
    traced(note, jit_compile=False)()
    traced(lambda: traced(note)(), jit_compile=True)()
    assert found == [False, False, True]

    def fail():
        raise ValueError

    with pytest.raises(ValueError):
        traced(fail, jit_compile=True)()
    assert not within_xla()
