"""Diverse beams, coverage, n-grams and token probabilities hold for every family of models."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from exact_models import VOCAB, padded, random_sources
from mostly_slow import mostly_slow
from random_weights import randomize
from small_luong_models import small_set
from small_phrase_models import GRANULARITIES, MIXED, REPRESENTATIONS, SMALL

from t2t_phrase import registry
from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.beam_search import WORST
from t2t_phrase.decoding.search.coverage import FLOOR
from t2t_phrase.decoding.search.source_attention import source_attention
from t2t_phrase.decoding.search.token_probabilities import LOG_PROB
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.special_ids import EOS_ID

OPTIONS = DecodeHParams(
    beam_size=4,
    num_groups=2,
    diversity_strength=0.7,
    coverage_penalty=0.4,
    no_repeat_ngram_size=2,
    token_probabilities=True,
    return_beams=True,
    max_length=7,
    extra_length=5,
)
LENGTHS = [5, 2, 7, 6]
INPUTS = padded(random_sources(LENGTHS))
LIMITS = [min(length + 5, 7) for length in LENGTHS]
# The ensemble has a Transformer and a recurrent model.
NAMES = ("ngrams", "ensemble", "transformer", "luong", "representation", "granularities")
FAMILIES = mostly_slow(NAMES, "ngrams")


@functools.cache
def model_of(name: str) -> Any:
    if name == "ensemble":
        return Ensemble([model_of("transformer"), model_of("luong")], weights=[1, 2])
    registry.discover()
    hparams: Any = {
        "transformer": lambda: SMALL,
        "ngrams": lambda: MIXED["mixed"],
        "representation": lambda: REPRESENTATIONS["representation"],
        "granularities": lambda: GRANULARITIES,
        "luong": lambda: small_set("luong_base_local_p_general_feed_adam"),
    }[name]()
    model = registry.models[hparams.model].from_hparams(hparams, vocab_size=VOCAB)
    randomize(model)
    # With EOS a little likelier, more outputs end.
    kernel = np.array(model.softmax.kernel)
    kernel[EOS_ID] *= 2
    model.softmax.kernel.assign(kernel)
    return model


def score_of(model: Any, source: np.ndarray, ids: list[int]) -> tuple[float, list[float]]:
    """Return the score of a whole output and its tokens' log-probabilities, teacher-forced."""
    features = {"inputs": source[None], "targets": np.array([ids], "int32")}
    log_probs = np.asarray(model.token_log_probabilities(features), "float64")[0]
    attention = source_attention(model)
    weights = attention.accumulate(
        model.attention_weights(features), attention.partitions(model, features)
    )
    weights = np.asarray(weights, "float64")[0]
    covered = (weights / weights.sum(-1, keepdims=True)).sum(0)[source > EOS_ID]
    if EOS_ID not in ids:
        return log_probs.sum(), log_probs.tolist()
    score = log_probs.sum() / ((5 + len(ids)) / 6) ** OPTIONS.alpha
    score += OPTIONS.coverage_penalty * np.log(np.clip(covered, FLOOR, 1)).sum()
    return score, log_probs.tolist()


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_found_is_what_the_whole_model_says(name: str) -> None:
    model = model_of(name)
    found = compiled(
        lambda inputs: translate_ids(model, {"inputs": inputs}, OPTIONS, growing=True), xla=False
    )(INPUTS)
    ended = 0
    for i, k in np.ndindex(2, 4):
        ids, score = np.asarray(found.ids)[i, k].tolist(), float(found.scores[i, k])
        ids = ids[: ids.index(EOS_ID) + 1] if EOS_ID in ids else ids[: LIMITS[i]]
        if score <= WORST or 0 in ids:
            continue  # a pad is no token to the loss
        expected, log_probs = score_of(model, INPUTS[i], ids)
        np.testing.assert_allclose(score, expected, atol=1e-4)
        noted = np.asarray(found.notes[LOG_PROB])[i, k]
        np.testing.assert_allclose(noted[: len(ids)], log_probs, atol=1e-4)
        assert not noted[len(ids) :].any()
        ended += EOS_ID in ids
    assert ended or name == "luong"
    if name not in ("transformer", "luong"):
        return  # Eager steps take long.
    alone = translate_ids(model, {"inputs": INPUTS[1:2, :2]}, OPTIONS)
    np.testing.assert_array_equal(np.asarray(found.ids)[1, :, : LIMITS[1]], alone.ids[0])
    np.testing.assert_allclose(found.scores[1], alone.scores[0], atol=1e-4)


@pytest.mark.slow
def test_xla_finds_the_same() -> None:
    def run(inputs: Any) -> Any:
        return translate_ids(model_of("ensemble"), {"inputs": inputs}, OPTIONS)

    graph, xla = (compiled(run, xla=xla)(INPUTS) for xla in (False, True))
    np.testing.assert_array_equal(graph.ids, xla.ids)
    np.testing.assert_allclose(graph.scores, xla.scores, atol=1e-4)
