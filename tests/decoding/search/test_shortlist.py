"""A search over a shortlist equals one over the whole vocabulary that excludes other tokens."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from exact_models import VOCAB, padded, random_sources
from keras import ops
from random_weights import randomize
from small_luong_models import small_set
from small_phrase_models import SMALL

from t2t_phrase import registry
from t2t_phrase.compile import compiled
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search import prefix
from t2t_phrase.decoding.search.shortlist import ALLOWED, TOKENS, Shortlist, shortlist_of
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.ensemble import Ensemble

INPUTS = padded(random_sources([5, 2, 6]))
PLAIN = DecodeHParams(beam_size=3, max_length=5, return_beams=True)
OWN = [[1, 2, 5, 9, 14], [1, 3, 4, 5, 6, 7], [1, 2, 18]]


@functools.cache
def model_of(name: str) -> Any:
    if name == "ensemble":
        return Ensemble([model_of("transformer"), model_of("luong")])
    registry.discover()
    hparams: Any = (
        SMALL if name == "transformer" else small_set("luong_base_local_p_general_feed_adam")
    )
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    randomize(model)
    return model


def features_of(own: list[list[int]], size: int) -> dict[str, np.ndarray]:
    """Return the features of a batch with a shortlist of so many tokens."""
    together = sorted({0, 1, *(token for tokens in own for token in tokens)})
    tokens = np.array(together + together[-1:] * (size - len(together)), "int32")
    allowed = np.zeros((len(own), size), bool)
    for row, chosen in enumerate(own):
        allowed[row, [together.index(token) for token in chosen]] = True
    return {"inputs": INPUTS[: len(own)], TOKENS: tokens, ALLOWED: allowed}


class Excluding:
    """A model whose other tokens have no probability."""

    def __init__(self, model: Any, allowed: np.ndarray) -> None:
        self._model, self._allowed = model, allowed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def step(self, *given: Any) -> Any:
        found = self._model.step(*given)
        return found._replace(logits=ops.where(self._allowed[:, None], found.logits, -float("inf")))


def test_it_equals_a_search_that_excludes_the_others() -> None:
    model = model_of("ensemble")
    features = features_of(OWN, 16)
    allowed = np.zeros((3, VOCAB), bool)
    for row, tokens in enumerate(OWN):
        allowed[row, tokens] = True
    # Every member of an ensemble has probabilities among the allowed tokens only.
    twin = Ensemble([Excluding(each, allowed) for each in model.models])
    slow = compiled(lambda inputs: translate_ids(twin, {"inputs": inputs}, PLAIN))(INPUTS)
    fast = compiled(lambda features: translate_ids(model, features, PLAIN))(features)
    np.testing.assert_array_equal(fast.ids, slow.ids)
    np.testing.assert_allclose(fast.scores, slow.scores, atol=1e-4)
    assert len({*np.asarray(fast.ids).ravel().tolist()}) > 3


@pytest.mark.slow
def test_the_whole_vocabulary_changes_nothing() -> None:
    model = model_of("transformer")
    features = features_of([[*range(VOCAB)]] * 3, VOCAB)
    full = compiled(lambda inputs: translate_ids(model, {"inputs": inputs}, PLAIN))(INPUTS)
    listed = compiled(lambda features: translate_ids(model, features, PLAIN), xla=True)(features)
    np.testing.assert_array_equal(listed.ids, full.ids)
    np.testing.assert_allclose(listed.scores, full.scores, atol=1e-4)


def test_a_sentence_alone_has_the_same_result_and_its_own_tokens_only() -> None:
    model = model_of("transformer")
    options = PLAIN.replace(
        beam_size=4, num_groups=2, diversity_strength=1.0, no_repeat_ngram_size=2
    )
    run = compiled(lambda features: translate_ids(model, features, options), xla=False)
    together = run(features_of(OWN, 16))
    for row, own in enumerate(OWN):
        assert {*np.asarray(together.ids[row]).ravel().tolist()} <= {0, *own}
    alone = run(features_of(OWN[:1], 8))
    np.testing.assert_array_equal(alone.ids[0], together.ids[0])
    np.testing.assert_allclose(alone.scores[0], together.scores[0], atol=1e-4)


@pytest.mark.slow
def test_a_sentence_alone_has_the_same_result_in_an_ensemble() -> None:
    model = model_of("ensemble")
    together, alone = (translate_ids(model, features_of(own, 16), PLAIN) for own in (OWN, OWN[:1]))
    np.testing.assert_array_equal(alone.ids[0], together.ids[0])
    np.testing.assert_allclose(alone.scores[0], together.scores[0], atol=1e-4)


def test_places_and_tokens() -> None:
    shortlist = Shortlist(np.array([0, 1, 4, 7, 7, 7], "int32"), None)
    tokens = np.array([[0, 1, 7], [4, 0, 7]], "int32")
    places = shortlist.places(tokens)
    np.testing.assert_array_equal(places, [[0, 1, 3], [2, 0, 3]])
    np.testing.assert_array_equal(shortlist.full(places), tokens)


def test_what_needs_the_whole_vocabulary_is_refused() -> None:
    features = features_of(OWN, 16)
    with pytest.raises(UserError, match="a lexicon cannot be used together with prefixes"):
        shortlist_of({**features, prefix.TOKENS: None})
    with pytest.raises(UserError, match="a lexicon cannot be used with an alignment model"):
        translate_ids(model_of("luong"), features, PLAIN, make_expansion=lambda *given: None)
