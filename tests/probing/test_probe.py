"""Probes must solve planted tasks, and must not solve one whose labels are random."""

import numpy as np
import pytest
from planted_probes import VOCAB_SIZE, planted

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.probing.hparams import ProbeHParams
from t2t_phrase.probing.probe import (
    check_model,
    probe_from_scratch,
    probe_states,
    scratch_hparams,
)
from t2t_phrase.probing.states import StateReader

registry.discover()
TINY = "hidden_size=16,filter_size=32,num_heads=2,num_hidden_layers=1"
HPARAMS = ProbeHParams(
    hidden_units=32,
    dropout=0.0,
    batch_size=24,
    learning_rate=0.01,
    scratch_learning_rate=0.01,
    scratch_warmup_steps=0,
    max_epochs=12,
)


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
    return probe_states(data, states, hparams, seed=1, log=log.append), data, log


def test_states_of_a_random_encoder_tell_its_tokens(model, states):
    before = [np.array(variable) for variable in model.variables]
    fitted, data, log = frozen(states, "word")
    assert fitted.test > 0.9 > 0.6 > data.majority and fitted.dev > 0.9
    assert log[-1].startswith("stopped at epoch ")
    # Nothing but the classifier has learnt.
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(np.array(variable), value)


def test_random_labels_are_not_learnt(states):
    fitted, data, _ = frozen(states, "word", shuffled=True)
    assert fitted.test < data.majority + 0.05 and data.majority < 0.75


def test_the_mean_of_states_tells_about_the_sentence(states):
    fitted, data, _ = frozen(states, "sentence")
    assert fitted.test > data.majority + 0.2
    # Weights, dropout and order follow from the seed.
    short = HPARAMS.replace(max_epochs=1, dropout=0.5)
    assert frozen(states, "sentence", short)[0] == frozen(states, "sentence", short)[0]


def test_an_encoder_learns_from_scratch():
    inputs, data = planted("word")
    hparams = scratch_hparams("transformer_tiny", TINY, 1)
    short = HPARAMS.replace(max_epochs=8)
    fitted = probe_from_scratch(
        data, hparams, inputs, short, vocab_size=VOCAB_SIZE, seed=2, log=lambda text: None
    )
    assert fitted.test > data.majority + 0.25, fitted


def test_encoders_from_scratch_have_the_layers_asked_for():
    assert scratch_hparams("transformer_demo", "", 3).num_encoder_layers == 3
    made = scratch_hparams("mgsa_syntax_demo", "num_encoder_layers=5,num_heads=8", 3)
    assert (made.num_encoder_layers, made.num_decoder_layers, made.num_heads) == (5, 1, 8)
    with pytest.raises(UserError, match=r"layers_1_6 with an encoder of 3 layers: .*3 la"):
        scratch_hparams("mgsa_base_layers_1_6", "", 3)
    with pytest.raises(UserError, match="did you mean transformer_tiny"):
        scratch_hparams("transformer_tin", "", 3)


def test_models_without_states_are_refused(monkeypatch):
    class Mute(EncoderDecoder):
        pass

    monkeypatch.setattr(registry.models, "_entries", {**registry.models._entries, "mute": Mute})
    with pytest.raises(UserError, match="model mute has no method source_states"):
        check_model("mute")
    for name in ("transformer", "phrase_transformer", "multi_granularity_transformer"):
        check_model(name)
