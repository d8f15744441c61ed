"""The sentences that statistics are made of."""

import types

import pytest

from t2t_phrase.config import UserError
from t2t_phrase.features import Feature
from t2t_phrase.insights import corpus
from t2t_phrase.text.subwords.encoder import SubwordEncoder
from t2t_phrase.text.subwords.training import train_subwords
from t2t_phrase.text.vocabularies import Vocabularies
from t2t_phrase.text.words.encoder import WordEncoder
from t2t_phrase.text.words.training import train_words

CASES = Feature(name="cases", stream="cases", pad=-1)


@pytest.fixture
def read(monkeypatch):
    """Return a function that reads pairs, and returns what the statistics are given."""
    encoder = WordEncoder(train_words(["a b c"], vocab_size=6))
    model = types.SimpleNamespace(hparams=types.SimpleNamespace(features=(CASES,)))

    def statistics(model, pairs, *, features, **options):
        return pairs, features

    monkeypatch.setattr(corpus, "attention_statistics", statistics)

    def run(pairs, cases):
        (found, features), kept = corpus.corpus_statistics(
            model, Vocabularies(encoder, encoder), pairs, texts={"cases": cases}, batch_size=64
        )
        texts = [tuple(encoder.decode(ids) for ids in pair) for pair in found]
        return texts, features["cases"], kept

    return run


def test_features_of_pairs_without_words_are_left_out_too(read):
    pairs = [("a b", "c"), (" ", "b"), ("c", ""), ("b", "a c")]
    texts, cases, kept = read(pairs, ["1 2", "", "3", "4"])
    assert texts == [("a b", "c"), ("b", "a c")] and kept == 2
    assert (cases.rows, cases.pad) == ([[1, 2, 0], [4, 0]], -1)


def test_pairs_without_tokens_are_left_out_too(monkeypatch):
    subwords = SubwordEncoder(train_subwords(["a b c"], vocab_size=264))
    assert subwords.encode("\u2581") == []
    model = types.SimpleNamespace(hparams=types.SimpleNamespace(features=()))
    monkeypatch.setattr(corpus, "attention_statistics", lambda model, pairs, **options: pairs)
    pairs = [("a", "c"), ("\u2581", "a"), ("a", "\u2581 "), ("b", "a")]
    found, kept = corpus.corpus_statistics(
        model, Vocabularies(subwords, subwords), pairs, batch_size=64
    )
    assert kept == 2
    assert [subwords.decode(source) for source, _ in found] == ["a", "b"]


def test_some_pair_must_have_words(read):
    with pytest.raises(UserError, match="no line has words on both sides"):
        read([("a", " ")], ["1"])
