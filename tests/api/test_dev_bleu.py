"""BLEU of the development set during training."""

import types

import pytest

from t2t_phrase.api import dev_bleu
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams


class Echo:
    """A translator that returns the source."""

    def __init__(self, *args, **kwargs):
        pass

    def encode(self, sources, features):
        return sources

    def translate_encoded(self, encoded):
        return [[types.SimpleNamespace(text=text)] for text in encoded]


def test_all_references_count(monkeypatch):
    monkeypatch.setattr(dev_bleu, "Translator", Echo)
    monkeypatch.setattr(dev_bleu, "length_notes", lambda *args, **kwargs: [])
    sources, first = ["a b c d", "e f g h"], ["a b c d", "x x x x"]
    problem = types.SimpleNamespace(
        bleu_tokenize="none",
        raw_text=lambda data_dir, split: (sources, first),
        raw_references=lambda data_dir, split: [first, ["y y y y", "e f g h"]],
        raw_features=lambda data_dir, split, features: {},
        vocabularies=lambda data_dir: None,
    )
    hparams = types.SimpleNamespace(features=(), max_length=9)
    options = types.SimpleNamespace(problem=problem, data_dir="", hparams=hparams, xla=None)
    found = dev_bleu.dev_bleu(options, DecodeHParams())(None)()
    assert found.value > 99.9 and found.signature.startswith("nrefs:2|")
    assert "|tok:none|" in found.signature
    problem.bleu_tokenize = "nonne"
    with pytest.raises(UserError, match=r"tokenize 'nonne' is unknown.*none"):
        dev_bleu.dev_bleu(options, DecodeHParams())
