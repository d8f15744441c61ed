"""Models as Keras models: `.keras` files, also in a new process, and `fit`."""

import subprocess
import sys

import keras
import numpy as np
import pytest
from mostly_slow import mostly_slow

from t2t_phrase import registry
from t2t_phrase.config import UserError

IDS = np.array([[3, 4, 5, 1], [6, 7, 1, 0]], "int32")
BATCH = {"inputs": IDS, "targets": IDS[:, ::-1].copy()}
BATCH["targets"][1] = [7, 6, 1, 0]
SMALL = "hidden_size=8,num_hidden_layers=1"
SETS = {
    "transformer_tiny": f"{SMALL},filter_size=16,num_heads=2",
    "phrase_interleaved_queryk_1_2_demo": f"{SMALL},filter_size=16,num_heads=2",
    "phrase_representation_max_attn_ta_multi30k": f"{SMALL},filter_size=16,num_heads=2",
    "luong_feed_multi30k": SMALL,
}


def make(name, **sizes):
    registry.discover()
    hparams = registry.hparams[name]().override(SETS[name])
    keras.utils.set_random_seed(1)
    return registry.models[hparams.model].from_hparams(hparams, vocab_size=16, **sizes)


def batch_of(model):
    fake = {f.name: np.full(IDS.shape, f.pad, "int32") for f in model.hparams.training_features}
    return {**BATCH, **fake}


@pytest.mark.parametrize("name", SETS)
def test_a_file_gives_the_same_model(name, tmp_path):
    model = make(name)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert type(loaded) is type(model) and loaded.hparams == model.hparams
    np.testing.assert_array_equal(loaded(batch_of(model)), model(batch_of(model)))


def test_the_type_that_a_model_computes_in_survives(tmp_path):
    registry.discover()
    hparams = registry.hparams["transformer_tiny"]().override(SETS["transformer_tiny"])
    model = registry.models[hparams.model](hparams, 16, dtype="mixed_bfloat16")
    model.build()
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.dtype_policy.name == loaded.hparams.dtype_policy == "mixed_bfloat16"


def test_a_loaded_model_with_low_rank_updates_can_be_trained(tmp_path):
    registry.discover()
    options = f"{SETS['transformer_tiny']},lora_rank=2"
    hparams = registry.hparams["transformer_tiny"]().override(options)
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=16)
    draw = np.random.default_rng(0)
    for variable in model.trainable_variables:
        variable.assign(draw.normal(size=variable.shape))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    batch = batch_of(model)
    np.testing.assert_allclose(loaded(batch), model(batch), rtol=1e-4, atol=1e-4)
    before = [variable.numpy() for variable in loaded.trainable_variables]
    loaded.compile(optimizer=keras.optimizers.SGD(0.1), jit_compile=False)
    loaded.fit(batch, epochs=1, batch_size=2, verbose=0)
    moved = [
        (variable.numpy() != old).any()
        for variable, old in zip(loaded.trainable_variables, before, strict=True)
    ]
    # The factors B, whose products with A are still zero.
    assert sum(moved) == len(moved) / 2 > 0


def test_quantize_keeps_the_function(capsys):
    model = make("transformer_tiny")
    batch = batch_of(model)
    expected = model(batch)
    with pytest.warns(UserWarning, match="cannot be quantized|does not"):
        model.quantize("int8")
    np.testing.assert_allclose(model(batch), expected, rtol=0.05, atol=0.05)


def test_two_vocabularies_survive(tmp_path):
    model = make("luong_feed_multi30k", target_vocab_size=24)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert (loaded.vocab_size, loaded.target_vocab_size) == (16, 24)


@pytest.mark.slow
def test_a_new_process_needs_one_import(tmp_path):
    model = make("phrase_interleaved_queryk_1_2_demo")
    model.save(tmp_path / "model.keras")
    np.save(tmp_path / "logits.npy", np.asarray(model(BATCH)))
    np.savez(tmp_path / "batch.npz", **BATCH)
    code = """
import keras, numpy as np, t2t_phrase
model = keras.models.load_model("model.keras")
batch = dict(np.load("batch.npz"))
np.testing.assert_allclose(model(batch), np.load("logits.npy"), atol=1e-6)
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    "first",
    mostly_slow(
        [
            "from t2t_phrase.layers import FeedForward",
            "from t2t_phrase.layers.common.feed_forward import FeedForward",
            "from t2t_phrase import load",
            "import t2t_phrase.decoding.hparams",
        ],
        "from t2t_phrase import load",
        "import t2t_phrase.decoding.hparams",
    ),
)
def test_keras_may_be_imported_after_the_library(first):
    code = f"""
{first}
import keras
assert keras.saving.get_registered_object("t2t_phrase>TokenEmbedding")
assert keras.saving.get_registered_object("t2t_phrase>Luong")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", mostly_slow(SETS, "transformer_tiny"))
def test_fit_lowers_the_loss(name):
    model = make(name)
    batch = batch_of(model)
    expected = model.batch_loss(batch).objective / np.count_nonzero(batch["targets"])
    model.compile(optimizer=keras.optimizers.Adam(0.03), jit_compile=False)
    assert model.evaluate(batch, verbose=0) == pytest.approx(float(expected), rel=1e-4)
    losses = model.fit(batch, epochs=8, batch_size=2, verbose=0).history["loss"]
    assert losses[-1] < losses[0] * 0.9


def test_sample_weights_are_refused():
    model = make("transformer_tiny")
    batch = batch_of(model)
    targets = batch["targets"]
    # Without `y`, Keras drops them.
    model.compile(optimizer="adam", jit_compile=False, run_eagerly=True)
    with pytest.raises(UserError, match="every target token counts the same"):
        model.fit(batch, targets, sample_weight=np.ones(len(targets)), verbose=0)
