"""Every dropout of every family drops in training, and only there."""

from __future__ import annotations

from typing import Any

import pytest
from exact_models import TARGETS, VOCAB, batch_of, random_sources
from mostly_slow import mostly_slow
from small_alignment_rnns import JUMPS, LEXICAL
from small_phrase_models import GRANULARITIES, MIXED, REPRESENTATIONS, SMALL

from t2t_phrase import registry
from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.word_dropout import WordDropout
from t2t_phrase.models.alignment_assisted import with_alignment_heads
from t2t_phrase.models.alignment_model import with_jumps
from t2t_phrase.models.luong_hparams import LuongHParams

registry.discover()
FAMILIES: dict[str, Any] = {
    "mixed": MIXED["mixed"],
    "mixed_with_distances": MIXED["mixed_with_distances"],
    "representation": REPRESENTATIONS["representation"],
    "granularities": GRANULARITIES.replace(num_encoder_layers=2, composition="attention"),
    "aligned": with_alignment_heads(SMALL),
    "jumps": with_jumps(SMALL),
    "recurrent": LuongHParams(
        hidden_size=8,
        num_hidden_layers=2,
        encoder_reads="both",
        attention="local_p",
        attention_window=2,
        input_feeding=True,
    ),
    "recurrent_aligned": LEXICAL["general"],
    "recurrent_jumps": JUMPS["jumps"],
}


@pytest.mark.parametrize(
    "name", mostly_slow(FAMILIES, "representation", "granularities", "aligned", "jumps")
)
def test_every_dropout_is_active_in_training_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {field: 0.1 for field in vars(FAMILIES[name]) if field.endswith("dropout")}
    hparams = FAMILIES[name].replace(**fields)
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    numbers = {feature.name: lambda tokens: [0] * tokens for feature in hparams.training_features}
    features = batch_of(random_sources([2, 5]), TARGETS[:2], numbers)
    calls: set[tuple[Any, bool]] = set()
    for kind in (Dropout, WordDropout):

        def call(self: Any, x: Any, training: bool = False) -> Any:
            calls.add((self, training))
            return x

        monkeypatch.setattr(kind, "call", call)
    dropouts = [layer for layer in model._flatten_layers() if isinstance(layer, Dropout)]
    dropouts += [model.source_word_dropout, model.target_word_dropout]
    model.batch_loss(features)
    assert not any(training for _, training in calls)
    calls.clear()
    model.batch_loss(features, training=True)
    assert calls == {(layer, True) for layer in dropouts if layer.rate}


# Where each option of a Transformer drops.
PLACES = {
    "weight_dropout": "attention_dropout",
    "inner_dropout": "relu_dropout",
    "output_dropout": "layer_prepostprocess_dropout",
    "source_dropout": "layer_prepostprocess_dropout",
    "target_dropout": "layer_prepostprocess_dropout",
}


@pytest.mark.parametrize("name", [name for name in FAMILIES if not name.startswith("recurrent")])
def test_each_option_is_the_rate_of_its_own_dropouts(name: str) -> None:
    rates = {"attention_dropout": 0.1, "relu_dropout": 0.2, "layer_prepostprocess_dropout": 0.3}
    hparams = FAMILIES[name].replace(**rates)
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    layers = list(model._flatten_layers())
    found = {place: [getattr(x, place) for x in layers if hasattr(x, place)] for place in PLACES}
    for place, dropouts in found.items():
        assert {dropout.rate for dropout in dropouts} == {rates[PLACES[place]]}, place
    assert sum(map(len, found.values())) == sum(isinstance(x, Dropout) for x in layers)
