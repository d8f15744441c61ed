"""Same weights, same sentences: PyTorch in a process without TensorFlow against TensorFlow."""

from __future__ import annotations

import pathlib

from backend_process import needs_torch
from exact_models import OPTIONS, TARGETS, VOCAB, batch_of, random_sources
from random_weights import randomize
from small_luong_models import small_set as small_luong_set
from small_phrase_models import MIXED, REPRESENTATIONS, small_set
from under_backend import assert_same_under

from t2t_phrase import registry
from t2t_phrase.training_hparams import TrainingHParams

FEATURES = batch_of(random_sources([1, 2, 11]), TARGETS[:3], {})


@needs_torch
def test_logits_loss_gradients_and_beams(tmp_path: pathlib.Path) -> None:
    """With n-gram attention of all kinds, source phrases, granularities and LSTMs."""
    registry.discover()
    hparams: dict[str, TrainingHParams] = {
        **MIXED,
        **REPRESENTATIONS,
        "lstm_composition": small_set("mgsa_ngram_lstm_demo"),
        "luong": small_luong_set("luong_base_local_p_general_feed"),
    }
    models = {}
    for name, given in hparams.items():
        kind = registry.models[given.model]
        models[name] = kind.from_hparams(given, vocab_size=VOCAB)
        randomize(models[name], seed=len(name))
    assert_same_under(models, FEATURES, OPTIONS, tmp_path, backend="torch")
