"""Expansions from outside the library: a forced token, and positions from a second model."""

from __future__ import annotations

import itertools
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import reference_beam_search as reference
import tensorflow as tf
from expansions import aligning_expansion, forcing_expansion
from random_weights import randomize
from table_model import TableModel, as_lists, assert_same, random_table

from t2t_phrase.compile import compiled, traced
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses, beam_search
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.special_ids import EOS_ID

VOCAB, LENGTH = 7, 6
LIMITS = np.array([6, 4, 2, 6, 5, 0], "int32")
FORCED = np.array([3, 6, 2, 5, 4, 3], "int32")


def forced_search(
    table: Any, forced: Any, limits: Any, beam_size: int = 3, length: int = LENGTH, **options: Any
) -> Hypotheses:
    decoder = TableModel(table).decoder(beam_size)
    return beam_search(
        forcing_expansion(decoder, forced, limits),
        max_lengths=limits,
        length=length,
        beam_size=beam_size,
        alpha=0.6,
        **options,
    )


def constrained(model: TableModel, sentence: int, limit: int) -> reference.LogProbs:
    """Return the log-probabilities of the table, with the constraint, for plain Python."""
    plain, forced = model.log_probs(sentence), FORCED[sentence]

    def of_prefix(prefix: reference.Prefix) -> list[float]:
        scores = list(plain(prefix))
        if forced not in prefix:
            scores[EOS_ID] = -np.inf
            if len(prefix) + 2 == limit:
                scores = [s if i == forced else -np.inf for i, s in enumerate(scores)]
        return scores

    return of_prefix


@pytest.mark.parametrize("only_best", [pytest.param(False, marks=pytest.mark.slow), True])
def test_forced_tokens_appear_as_in_a_plain_search_with_the_same_constraint(
    only_best: bool,
) -> None:
    unconstrained = 0
    for seed in range(3):
        model = TableModel(random_table(seed, len(LIMITS), LENGTH, VOCAB, eos=1.0))
        found = forced_search(model.table, FORCED, LIMITS, only_best=only_best)
        free = model.search(max_lengths=LIMITS, length=LENGTH, beam_size=3, alpha=0.6)
        for i, limit in enumerate(LIMITS[:5]):
            expected = reference.search(
                constrained(model, i, limit),
                max_length=limit,
                beam_size=3,
                alpha=0.6,
                only_best=only_best,
            )
            actual = as_lists(found, i)
            assert all(FORCED[i] in ids and ids[-1] == EOS_ID for ids, _ in actual)
            n = 1 if only_best else None
            assert_same(actual[:n], expected[:n])
            unconstrained += FORCED[i] not in np.asarray(free.ids)[i, 0]
        assert not np.any(found.ids[5])
    assert unconstrained > 5, "without force most outputs should lack the token"


def test_a_beam_that_holds_everything_finds_the_best_of_all_that_hold_the_token() -> None:
    table = random_table(5, 2, 4, vocab=4)
    limits, forced = np.array([4, 4], "int32"), np.array([3, 2], "int32")
    found = forced_search(table, forced, limits, beam_size=81, length=4)
    for i in range(2):
        every = reference.exhaustive(
            TableModel(table).log_probs(i), vocab_size=4, max_length=4, alpha=0.6
        )
        expected = [(ids, score) for ids, score in every if forced[i] in ids]
        assert 0 < len(expected) < len(every)
        assert_same(as_lists(found, i), expected)


def test_notes_follow_the_beams() -> None:
    model = TableModel(random_table(1, len(LIMITS), LENGTH, VOCAB))
    found = forced_search(model.table, FORCED, LIMITS)
    places, log_probs = (np.asarray(found.notes[name]) for name in ("place", "log_probs"))
    assert places.shape == (6, 3, LENGTH) and log_probs.shape == (6, 3, LENGTH, 2)
    checked = set()
    for i, k in np.ndindex(5, 3):
        if found.scores[i, k] == WORST:
            continue
        ids, total = np.asarray(found.ids)[i, k].tolist(), 0.0
        end = ids.index(EOS_ID) + 1
        for time in range(end):
            before = total
            total += model.log_probs(i)(tuple(ids[:time]))[ids[time]]
            np.testing.assert_allclose(log_probs[i, k, time], [before, total], atol=1e-4)
            first = ids.index(FORCED[i]) if FORCED[i] in ids[: time + 1] else -1
            assert places[i, k, time] == first
        checked.add(places[i, k, end - 1])
        assert (places[i, k, end:] == -1).all() and not log_probs[i, k, end:].any()
    assert len(checked) > 2, "beams should hold the token at different places"


def test_places_without_a_hypothesis_score_worst() -> None:
    """In two places fit the forced token and EOS, in one the forced token only."""
    table, limits = random_table(0, 1, 2, VOCAB), np.array([2], "int32")
    for length, expected in ((2, [3, EOS_ID]), (1, [3])):
        found = forced_search(table, FORCED[:1], limits, beam_size=4, length=length)
        np.testing.assert_array_equal(found.ids[0, 0], expected)
        assert found.scores[0, 0] > WORST
        np.testing.assert_array_equal(found.scores[0, 1:], [WORST] * 3)


@pytest.mark.slow
def test_a_sentence_has_the_same_result_alone_and_in_a_batch() -> None:
    table = random_table(3, len(LIMITS), LENGTH, VOCAB)
    together = forced_search(table, FORCED, LIMITS)
    for i in range(len(LIMITS)):
        one = slice(i, i + 1)
        alone = forced_search(table[one], FORCED[one], LIMITS[one])
        tf.nest.map_structure(
            lambda whole, part, i=i: np.testing.assert_allclose(whole[i], part[0], rtol=1e-6),
            together._asdict(),
            alone._asdict(),
        )


def test_graph_and_xla_equal_eager() -> None:
    table = random_table(4, len(LIMITS), LENGTH, VOCAB)
    eager = forced_search(table, FORCED, LIMITS)
    dynamic = traced(
        lambda forced, limits, length: forced_search(table, forced, limits, length=length),
        input_signature=[tf.TensorSpec((6,), tf.int32)] * 2 + [tf.TensorSpec((), tf.int32)],
    )
    for other in (
        traced(forced_search, jit_compile=False)(table, FORCED, LIMITS),
        traced(forced_search, jit_compile=True)(table, FORCED, LIMITS),
        dynamic(FORCED, LIMITS, LENGTH),
    ):
        np.testing.assert_array_equal(other.ids, eager.ids)
        np.testing.assert_array_equal(other.notes["place"], eager.notes["place"])
        np.testing.assert_allclose(other.scores, eager.scores, rtol=1e-5)
        np.testing.assert_allclose(other.notes["log_probs"], eager.notes["log_probs"], atol=1e-4)


JAX = """
import os, sys
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_PLATFORMS"] = "cpu"
sys.modules["tensorflow"] = None
import jax, numpy as np
from expansions import forcing_expansion
from table_model import TableModel
from t2t_phrase.decoding.search.beam_search import beam_search

given = np.load(sys.argv[1])

@jax.jit
def run(table, forced, limits):
    expansion = forcing_expansion(TableModel(table).decoder(3), forced, limits)
    return beam_search(expansion, max_lengths=limits, length=6, beam_size=3, alpha=0.6)

found = run(given["table"], given["forced"], given["limits"])
np.savez(sys.argv[2], ids=found.ids, scores=found.scores, **found.notes)
"""


@pytest.mark.slow
def test_jax_equals_tensorflow(tmp_path: pathlib.Path) -> None:
    table = random_table(6, len(LIMITS), LENGTH, VOCAB)
    np.savez(tmp_path / "given.npz", table=table, forced=FORCED, limits=LIMITS)
    result = subprocess.run(
        [sys.executable, "-c", JAX, tmp_path / "given.npz", tmp_path / "found.npz"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert result.returncode == 0, result.stderr
    under_jax, found = np.load(tmp_path / "found.npz"), forced_search(table, FORCED, LIMITS)
    np.testing.assert_array_equal(under_jax["ids"], found.ids)
    np.testing.assert_array_equal(under_jax["place"], found.notes["place"])
    np.testing.assert_allclose(under_jax["scores"], found.scores, rtol=1e-5)
    np.testing.assert_allclose(under_jax["log_probs"], found.notes["log_probs"], atol=1e-4)


def test_positions_of_a_second_model_are_searched_with_the_tokens() -> None:
    """A beam that holds everything finds the best of all pairs of tokens and positions."""
    places, vocab, length = 2, 3, 3
    rng = np.random.default_rng(0)
    jumps = rng.normal(size=(2, places, places)).astype("float32")
    emissions = rng.normal(size=(2, places, vocab)).astype("float32")
    table = random_table(7, 2, length, vocab)
    model = TableModel(table)
    beam_size = (places * (vocab - 1)) ** length
    found = beam_search(
        aligning_expansion(model.decoder(beam_size), jumps, emissions),
        max_lengths=np.array([3, 2], "int32"),
        length=length,
        beam_size=beam_size,
        alpha=0.6,
    )

    def log_softmax(logits: np.ndarray) -> np.ndarray:
        return logits - np.log(np.exp(logits).sum())

    for i, limit in enumerate((3, 2)):
        every = []
        for end in range(1, limit + 1):
            bodies = itertools.product([0, 2], repeat=end - 1)
            for body, path in itertools.product(bodies, itertools.product(range(2), repeat=end)):
                ids, total, position = (*body, EOS_ID), 0.0, 0
                for time, (token, place) in enumerate(zip(ids, path, strict=True)):
                    total += log_softmax(jumps[i, position])[place]
                    logits = np.array(model.log_probs(i)(ids[:time])) + emissions[i, place]
                    total += log_softmax(logits)[token]
                    position = place
                padding = (0,) * (length - end)
                score = total / reference.penalty(end, 0.6)
                every.append((ids + padding, path + padding, score))
        every.sort(key=lambda item: -item[2])
        real = np.asarray(found.scores[i]) > WORST
        assert real.sum() == len(every) == {3: 42, 2: 10}[limit]
        np.testing.assert_array_equal(np.asarray(found.ids[i])[real], [e[0] for e in every])
        positions = np.asarray(found.notes["position"][i])[real]
        np.testing.assert_array_equal(positions, [e[1] for e in every])
        np.testing.assert_allclose(found.scores[i][real], [e[2] for e in every], atol=1e-4)


def test_translation_may_be_given_another_expansion() -> None:
    hparams = TransformerHParams(hidden_size=16, filter_size=16, num_heads=2, num_hidden_layers=1)
    model = Transformer.from_hparams(hparams, vocab_size=12)
    randomize(model, deviation=0.4)
    inputs = np.array([[5, 6, 7, 8, 1], [4, 1, 0, 0, 0]], "int32")
    features = {"inputs": inputs, "forced": np.array([9, 3], "int32")}
    limits = np.array([7, 4], "int32")

    def make_expansion(decoder: Any, features: Any, hparams: Any) -> Any:
        assert hparams.beam_size == 3
        return forcing_expansion(decoder, features["forced"], limits)

    options = DecodeHParams(beam_size=3, extra_length=2, return_beams=True)
    run = compiled(
        lambda features: translate_ids(model, features, options, make_expansion=make_expansion)
    )
    found = run(features)
    for i, row in np.ndenumerate(np.asarray(found.scores)):
        ids = np.asarray(found.ids)[i].tolist()
        assert row == WORST or features["forced"][i[0]] in ids[: ids.index(EOS_ID)]
    assert (np.asarray(found.scores)[:, 0] > WORST).all()
    assert found.notes["place"].shape == (2, 3, 7)
