"""Probes must solve planted tasks, and must not solve one whose labels are random."""

import numpy as np
import pytest
from planted_probes import VOCAB_SIZE, planted

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.probing import probe
from t2t_phrase.probing.hparams import Choice, ProbeHParams
from t2t_phrase.probing.measures import measure
from t2t_phrase.probing.probe import (
    check_model,
    probe_from_scratch,
    probe_states,
    scratch_sets,
)
from t2t_phrase.probing.states import StateReader

registry.discover()
TINY = "hidden_size=16,filter_size=32,num_heads=2,num_hidden_layers=1"
HPARAMS = ProbeHParams(
    dropout=0.0,
    batch_size=24,
    scratch_warmup_steps=0,
    max_epochs=12,
)


CHOICE = Choice(hidden_units=32, learning_rate=0.01)


@pytest.fixture(scope="module")
def model():
    hparams = registry.hparams["transformer_tiny"]().override(TINY)
    made = registry.models["transformer"].from_hparams(hparams, vocab_size=VOCAB_SIZE)
    rng = np.random.default_rng(0)
    # Large weights, the same in every test.
    for variable in made.trainable_variables:
        variable.assign((variable.name == "gamma") + 0.3 * rng.normal(size=variable.shape))
    return made


@pytest.fixture(scope="module")
def states(model):
    reader = StateReader(model)
    return {split: reader.read(own) for split, own in planted("word")[0].items()}


def frozen(states, unit, hparams=HPARAMS, **options):
    _, data = planted(unit, **options)
    log: list[str] = []
    return probe_states(data, states, hparams, CHOICE, seed=1, log=log.append), data, log


def accuracy(fitted, data):
    return measure(fitted.predictions, data.labels["test"]).accuracy


def test_states_of_a_random_encoder_tell_its_tokens(model, states):
    before = [np.array(variable) for variable in model.variables]
    fitted, data, log = frozen(states, "word")
    assert accuracy(fitted, data) > 0.9 > 0.6 > data.shares("test")[0] and fitted.dev > 0.9
    assert log[-1].startswith("stopped at epoch ")
    # Nothing but the classifier has learnt.
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(np.array(variable), value)


def test_random_labels_are_not_learnt(states):
    fitted, data, _ = frozen(states, "word", shuffled=True)
    assert accuracy(fitted, data) < data.shares("test")[0] + 0.05 and data.shares("test")[0] < 0.75


def test_the_mean_of_states_tells_about_the_sentence(states):
    fitted, data, _ = frozen(states, "sentence")
    assert accuracy(fitted, data) > data.shares("test")[0] + 0.2
    # Weights, dropout and order follow from the seed.
    short = HPARAMS.replace(max_epochs=1, dropout=0.5)
    first, second = (frozen(states, "sentence", short)[0] for _ in range(2))
    assert first[:3] == second[:3]


def test_options_reach_the_training(states, monkeypatch):
    caught = []
    monkeypatch.setattr(probe, "fit", lambda *given, **options: caught.append(given))
    options = HPARAMS.replace(dropout=0.5, scratch_warmup_steps=7, patience=3)
    frozen(states, "word", options)
    inputs, data = planted("word")
    hparams = scratch_sets(["transformer_tiny"], TINY, 1)["transformer_tiny"]
    probe_from_scratch(
        data, hparams, inputs, options, CHOICE, vocab_size=VOCAB_SIZE, seed=2, log=print
    )
    for (_, _, recipe), warmup in zip(caught, (0, 7), strict=True):
        assert recipe == (CHOICE.learning_rate, warmup, 24, 12, 3)
    network, vectors = caught[0][0], {"vectors": np.ones((4, 16), "float32")}
    plain, dropped = (np.asarray(network.logits(vectors, training)) for training in (False, True))
    assert np.abs(plain - dropped).max() > 0.01


@pytest.mark.slow
def test_an_encoder_learns_from_scratch():
    inputs, data = planted("word")
    hparams = scratch_sets(["transformer_tiny"], TINY, 1)["transformer_tiny"]
    short = HPARAMS.replace(max_epochs=8)
    fitted = probe_from_scratch(
        data, hparams, inputs, short, CHOICE, vocab_size=VOCAB_SIZE, seed=2, log=lambda text: None
    )
    # Batches are sorted by length; the predictions are in the order of the sentences.
    assert accuracy(fitted, data) > data.shares("test")[0] + 0.25, fitted


def test_encoders_from_scratch_have_the_layers_asked_for():
    names = ["transformer_demo", "mgsa_syntax_demo", "mgsa_base_layers_1_6"]
    base, syntax, deep = scratch_sets(names, "", 3).values()
    assert base.num_encoder_layers == syntax.num_encoder_layers == deep.num_encoder_layers == 3
    assert syntax.granularity_layers == deep.granularity_layers == (1, 2, 3)
    # Options apply to the sets that have them.
    overrides = "granularity_layers=[1,2],num_heads=8,num_encoder_layers=5"
    base, syntax, _ = scratch_sets(names, overrides, 3).values()
    assert (base.num_encoder_layers, base.num_heads) == (5, 8)
    assert (syntax.num_encoder_layers, syntax.granularity_layers) == (5, (1, 2))
    assert scratch_sets(names, "num_encoder_layers=4", 3)[names[1]].granularity_layers[-1] == 4
    with pytest.raises(UserError, match=r"with an encoder of 3 layers: .*num_head"):
        scratch_sets(names, "num_head=8", 3)
    with pytest.raises(UserError, match=r"the encoder has 3 layers, got \[1, 6\]"):
        scratch_sets(names, "granularity_layers=[1,6]", 3)
    with pytest.raises(UserError, match="did you mean transformer_tiny"):
        scratch_sets(["transformer_tin"], "", 3)


def test_what_would_not_train_an_encoder_from_scratch_is_refused(monkeypatch):
    names = ["transformer_demo", "transformer_tiny"]
    sets = scratch_sets(names, "dtype_policy=mixed_bfloat16", 3)
    assert {each.dtype_policy for each in sets.values()} == {"mixed_bfloat16"}
    with pytest.raises(UserError, match="transformer_demo: dtype_policy=mixed_float16 needs a sc"):
        scratch_sets(names, "dtype_policy=mixed_float16", 3)
    for overrides in ("lora_rank=4", "clip_grad_norm=1", "frozen_variables=[encoder*]"):
        with pytest.raises(UserError, match=r"^\w+: encoders from scratch are trained with the op"):
            scratch_sets(names, overrides, 3)
    low = registry.hparams["transformer_tiny"]().replace(lora_rank=4)
    monkeypatch.setitem(registry.hparams._entries, "low", lambda: low)
    with pytest.raises(UserError, match="low: with lora_rank, most of its random weights"):
        scratch_sets(["low"], "", 3)


def test_sets_without_encoder_layers_have_the_layers_asked_for():
    names = ["luong_demo", "transformer_demo", "mgsa_syntax_demo"]
    for overrides in ("num_encoder_layers=5", "num_hidden_layers=5"):
        luong, base, syntax = scratch_sets(names, overrides, 3).values()
        assert (luong.num_hidden_layers, base.num_encoder_layers) == (5, 5)
        assert (syntax.num_encoder_layers, syntax.granularity_layers) == (5, (1, 2, 3, 4, 5))
    luong, base, _ = scratch_sets(names, "", 3).values()
    assert (luong.num_hidden_layers, base.num_encoder_layers) == (3, 3)
    with pytest.raises(UserError, match="num_encoder_layers"):
        scratch_sets(names[:1], "num_encoder_layers=5", 3)


@pytest.mark.parametrize("count", ["1001", "30000000", "9" * 5000])
def test_too_many_layers_are_refused_at_once(count):
    with pytest.raises(UserError) as refused:
        scratch_sets(["mgsa_syntax_demo"], f"num_encoder_layers={count}", 3)
    message = str(refused.value)
    assert message.startswith(f"mgsa_syntax_demo with an encoder of {count[:80]}")
    assert "num_encoder_layers" in message and len(message) < 1000


def test_models_without_states_are_refused():
    class Mute(EncoderDecoder):
        pass

    with pytest.raises(UserError, match="Mute has no method source_states"):
        check_model(Mute)
    for name in ("transformer", "phrase_transformer", "multi_granularity_transformer"):
        check_model(registry.models[name])
