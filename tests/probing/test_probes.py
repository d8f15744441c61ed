"""The choice of a classifier, and the seeds that it is trained with."""

import types

import pytest
from planted_probes import VOCAB_SIZE, planted

from t2t_phrase.probing import probes
from t2t_phrase.probing.hparams import ProbeHParams
from t2t_phrase.probing.probes import Probes, TrainedEncoder
from t2t_phrase.probing.training import Fitted

SMALL, LARGE = 8, 16
HPARAMS = ProbeHParams(
    hidden_units=(SMALL, LARGE),
    learning_rates=(0.1,),
    scratch_learning_rates=(0.5,),
    choice_epochs=2,
    max_epochs=9,
)


@pytest.fixture
def probed(monkeypatch):
    """Return a function that probes, and what it trained: (epochs, units, learning rate, seed)."""
    inputs, data = planted("sentence")
    trained, untrained, whole = [], [], []

    def fit(data, *others, seed, log, **_):
        *_, hparams, choice = others
        trained.append((hparams.max_epochs, *choice, seed))
        right = data.labels["test"]
        return Fitted({SMALL: 0.5, LARGE: 0.9}[choice.hidden_units], 1, 2, right)

    def encoded(*_, whole_words):
        whole.append(whole_words)
        return inputs

    monkeypatch.setattr(probes, "probe_states", fit)
    monkeypatch.setattr(probes, "probe_from_scratch", fit)
    monkeypatch.setattr(probes, "untrained_model", lambda *_, seed, **__: untrained.append(seed))
    monkeypatch.setattr(
        probes, "StateReader", lambda *_, **__: types.SimpleNamespace(read=lambda *_, **__: None)
    )
    given = types.SimpleNamespace(tasks=[data], encoded=encoded, corpus=None)

    def run(setting, **changes):
        made = Probes(given, HPARAMS.replace(**changes), (3, 4), report=lambda text: None)
        encoder = types.SimpleNamespace(vocab_size=VOCAB_SIZE)
        model = types.SimpleNamespace(hparams=types.SimpleNamespace(supervision=("tags",)))
        if setting == "scratch":
            made.of_set("set", None, encoder)
        elif setting == "untrained":
            made.of_untrained("set", None, None, encoder)
        else:
            made.of_run(TrainedEncoder("run", model, "set", "model.ckpt-1", encoder))
        return made.results, trained, untrained, whole

    return run


@pytest.mark.parametrize(("setting", "rate"), [("frozen", 0.1), ("scratch", 0.5)])
def test_the_best_choice_for_the_first_seed_is_used_for_all(probed, setting, rate):
    results, trained, _, _ = probed(setting)
    tried = [(2, units, rate, 3) for units in (SMALL, LARGE)]
    assert trained == [*tried, *((9, LARGE, rate, seed) for seed in (3, 4))]
    assert [(r.seed, r.hidden_units, r.dev_accuracy) for r in results] == [
        (seed, LARGE, 0.9) for seed in (3, 4)
    ]
    # This model has read the labels of trees.
    assert {result.supervised for result in results} == {setting == "frozen"}


def test_what_was_trained_to_the_end_is_not_trained_again(probed):
    _, trained, _, _ = probed("frozen", choice_epochs=0)
    expected = [(SMALL, 3), (LARGE, 3), (LARGE, 4)]
    assert trained == [(9, units, 0.1, seed) for units, seed in expected]


def test_untrained_encoders_differ_between_seeds(probed):
    assert probed("untrained")[2] == [3, 4]


@pytest.mark.parametrize("word_states", ["first", "mean"])
def test_words_are_whole_where_their_mean_is_asked_for(probed, word_states):
    assert probed("frozen", word_states=word_states)[3] == [word_states == "mean"]
