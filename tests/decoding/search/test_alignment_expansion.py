"""Search with alignments against Algorithm 1 in plain Python, on tiny models."""

from __future__ import annotations

import functools
import math
import types
from typing import Any

import numpy as np
import pytest
import reference_alignment_search as reference
import tensorflow as tf
from exact_models import padded, random_sources
from reference_dictionary import forced_token
from tiny_pair import Prefixes, make_pair

from t2t_phrase.compile import compiled, traced
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.aligning import POSITION
from t2t_phrase.decoding.search.alignment_expansion import EVALUATED, alignment_expansion
from t2t_phrase.decoding.search.alignment_pruning import pack, surviving_positions
from t2t_phrase.decoding.search.beam_search import WORST, Hypotheses
from t2t_phrase.decoding.search.guided import ENTRY, STARTS, TOKENS
from t2t_phrase.decoding.search.search_weights import prepare_weights
from t2t_phrase.decoding.search.translate_ids import translate_ids
from t2t_phrase.models.aligned_pair import AlignedPair
from t2t_phrase.models.capabilities import Capabilities
from t2t_phrase.special_ids import EOS_ID

SOURCES = random_sources([5, 2, 9])
INPUTS = padded(SOURCES, extra=2)
OPTIONS = DecodeHParams(beam_size=3, max_length=5, extra_length=3, return_beams=True)


@functools.cache
def pair_of(kind: str = "plain") -> AlignedPair:
    return make_pair(kind)


def translate(pair: Any, inputs: Any, options: DecodeHParams, *, weights: Any = None) -> Hypotheses:
    make_expansion = functools.partial(alignment_expansion, pair)
    return translate_ids(
        pair, {"inputs": inputs}, options, make_expansion=make_expansion, weights=weights
    )


def run(pair: Any, inputs: Any, options: DecodeHParams, *, xla: bool = False) -> Hypotheses:
    return compiled(lambda inputs: translate(pair, inputs, options), xla=xla)(inputs)


def listed(found: Hypotheses, row: int) -> list[reference.Found]:
    """Return the hypotheses of a sentence as the reference does, unpadded."""
    hypotheses = []
    for k, score in enumerate(np.asarray(found.scores)[row]):
        tokens = np.asarray(found.ids)[row, k].tolist()
        if score <= WORST / 2:
            continue
        length = tokens.index(EOS_ID) + 1 if EOS_ID in tokens else np.count_nonzero(tokens)
        places, counts = (np.asarray(found.notes[n])[row, k] for n in (POSITION, EVALUATED))
        if EOS_ID in tokens:
            assert not any(tokens[length:])
            assert (places[length:] == -1).all()
            assert (counts[length:] == 0).all()
        hypotheses.append(
            reference.Found(
                tuple(tokens[:length]),
                float(score),
                tuple(places[:length].tolist()),
                tuple(counts[:length].tolist()),
            )
        )
    return hypotheses


def assert_same(actual: list[reference.Found], expected: list[reference.Found]) -> None:
    assert [f._replace(score=0) for f in actual] == [f._replace(score=0) for f in expected]
    scores = [[f.score for f in found] for found in (actual, expected)]
    np.testing.assert_allclose(*scores, atol=1e-4)


@functools.cache
def by_algorithm_1(kind: str, row: int, options: DecodeHParams) -> list[reference.Found]:
    prefixes = Prefixes(pair_of(kind), SOURCES[row])
    return reference.search(
        prefixes.places,
        prefixes.words,
        max_length=min(len(SOURCES[row]) + options.extra_length, options.max_length),
        beam_size=options.beam_size,
        alpha=options.alpha if options.beam_size > 1 else 0.0,
        threshold=options.alignment_threshold,
        weight=options.alignment_weight,
        min_length=options.min_length,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"alignment_threshold": 0.0, "max_length": 3},
        pytest.param({"alignment_threshold": 0.15, "max_length": 4}, marks=pytest.mark.slow),
        pytest.param({"alignment_threshold": 0.0}, marks=pytest.mark.slow),
        pytest.param({"alignment_threshold": 0.15}, marks=pytest.mark.slow),
        pytest.param(
            {"alignment_threshold": 0.4, "alignment_weight": 0.3, "min_length": 2},
            marks=pytest.mark.slow,
        ),
        pytest.param({"alignment_threshold": 1.0, "beam_size": 1}, marks=pytest.mark.slow),
    ],
)
def test_it_finds_what_algorithm_1_finds(changes: dict[str, Any]) -> None:
    options = OPTIONS.replace(**changes)
    found = translate(pair_of(), INPUTS, options)
    for row in range(len(SOURCES)):
        assert_same(listed(found, row), by_algorithm_1("plain", row, options))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["phrases", "rnn_words", "rnn_jumps", "rnns"])
def test_phrase_attention_and_recurrent_models_too(kind: str) -> None:
    options = OPTIONS.replace(alignment_threshold=0.1, max_length=3)
    found = translate(pair_of(kind), INPUTS, options)
    counts = set()
    for row in range(len(SOURCES)):
        expected = by_algorithm_1(kind, row, options)
        assert_same(listed(found, row), expected)
        counts |= {count for hypothesis in expected for count in hypothesis.evaluated}
    assert len(counts) > 2, "something is pruned, and something is left"


def test_pruning_leaves_some_positions_and_changes_what_is_found() -> None:
    """Otherwise the tests above would not show that it works."""
    pruned, full = (
        [
            found
            for row in range(len(SOURCES))
            for found in by_algorithm_1(
                "plain", row, OPTIONS.replace(alignment_threshold=threshold, max_length=length)
            )
        ]
        for threshold, length in ((0.15, 4), (0.0, 3))
    )
    assert {count for found in full for count in found.evaluated} == {2, 5, 9}
    counts = [count for found in pruned for count in found.evaluated]
    assert 1 in counts
    assert len(set(counts)) > 2


# For each sentence, the entry whose phrase begins at each position, and the tokens of the entries.
# Of few other positions, since hypotheses at these win: they may continue with likelier tokens.
STARTS_OF = [[1, 1, 1, 1, 1], [2, 2], [1, 2, 1, 1, 1, 2, 2, 1, 0]]
ENTRIES = {1: [7], 2: [5, 3, 5]}


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.15, 0.0])
def test_a_dictionary_forces_tokens_at_hypothesised_positions(threshold: float) -> None:
    pair, options = pair_of(), OPTIONS.replace(alignment_threshold=threshold, max_length=4)
    tokens = np.zeros((len(SOURCES), 2, 4), "int32")
    for number, ids in ENTRIES.items():
        tokens[:, number - 1, : len(ids)] = ids
    features = {
        "inputs": INPUTS,
        STARTS: padded(STARTS_OF, extra=INPUTS.shape[1] - max(map(len, STARTS_OF))),
        TOKENS: tokens,
    }
    make_expansion = functools.partial(alignment_expansion, pair)
    found = translate_ids(pair, features, options, make_expansion=make_expansion)
    for row, source in enumerate(SOURCES):
        prefixes, starts = Prefixes(pair, source), STARTS_OF[row]

        def forced(hypothesis: reference.Found, place: int, starts: Any = starts) -> Any:
            places = (*hypothesis.places, place)
            return forced_token(hypothesis.tokens, lambda p: places[len(p)], starts, ENTRIES)

        def words(pairs: Any, prefixes: Any = prefixes, forced: Any = forced) -> Any:
            return [
                [v if forced(*pair)[0] in (None, i) else -math.inf for i, v in enumerate(values)]
                for pair, values in zip(pairs, prefixes.words(pairs), strict=True)
            ]

        expected = reference.search(
            prefixes.places,
            words,
            max_length=min(len(source) + options.extra_length, options.max_length),
            beam_size=options.beam_size,
            alpha=options.alpha,
            threshold=threshold,
            weight=1.0,
        )
        assert_same(listed(found, row), expected)
        begun = np.asarray(found.notes[ENTRY])[row]
        for k, hypothesis in enumerate(expected):
            for end, place in enumerate(hypothesis.places):
                before = hypothesis._replace(
                    tokens=hypothesis.tokens[:end], places=hypothesis.places[:end]
                )
                assert begun[k, end] == forced(before, place)[1]
    assert (np.asarray(found.notes[ENTRY]) > 0).any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "rnns"])
def test_alone_in_a_graph_of_unknown_shape_and_under_xla_it_finds_the_same(kind: str) -> None:
    pair, options = pair_of(kind), OPTIONS.replace(alignment_threshold=0.15)
    graph = run(pair, INPUTS, options)
    signature = [tf.TensorSpec((None, None), tf.int32)]
    unknown = traced(lambda inputs: translate(pair, inputs, options), input_signature=signature)
    prepared = translate(pair, INPUTS, options, weights=prepare_weights(pair))
    for other in (unknown(tf.constant(INPUTS)), run(pair, INPUTS, options, xla=True), prepared):
        for row in range(len(SOURCES)):
            assert_same(listed(other, row), listed(graph, row))
    alone = translate(pair, INPUTS[1:2, :2], options)
    assert_same(listed(alone, 0), listed(graph, 1))


def test_positions_below_the_threshold_are_pruned_unless_all_are() -> None:
    probabilities = np.array([[[0.5, 0.15, 0.1, 0.9]], [[0.1, 0.02, 0.3, 0.0]]], "float32")
    real = np.array([[True, True, True, False], [True, True, False, False]])

    def kept(threshold: float) -> list[list[int]]:
        log_probs = np.log(np.maximum(probabilities, 1e-30))
        found = np.asarray(surviving_positions(log_probs, real, threshold))[:, 0]
        return [np.flatnonzero(row).tolist() for row in found]

    assert kept(0.0) == [[0, 1, 2], [0, 1]]
    assert kept(0.12) == [[0, 1], [0, 1]]
    assert kept(0.05) == [[0, 1, 2], [0]]
    assert kept(0.6) == [[0, 1, 2], [0, 1]]


def test_the_number_of_rounds_is_that_of_the_pairs_that_are_left() -> None:
    rng = np.random.default_rng(0)
    wanted = rng.random((3, 2, 7)) < np.array([0.1, 0.9, 0.4])[:, None, None]
    packed = pack(wanted)
    counts = wanted.reshape(3, -1).sum(axis=1)
    rounds = int(packed.rounds(2))
    assert rounds == max(-(-counts // 2))
    seen: list[list[int]] = [[], [], []]
    for number in range(rounds):
        pairs, real = packed.round(number, 2)
        for row in range(3):
            seen[row] += np.asarray(pairs)[row][np.asarray(real)[row]].tolist()
    assert seen == [np.flatnonzero(row).tolist() for row in wanted.reshape(3, -1)]
    assert int(pack(np.zeros((2, 2, 3), bool)).rounds(2)) == 0


def test_what_does_not_fit_is_refused() -> None:
    pair = pair_of()
    with pytest.raises(UserError, match="sampling_temp: cannot be used with an alignment model"):
        translate(pair, INPUTS, OPTIONS.replace(sampling_temp=1.0))
    with pytest.raises(UserError, match="alignment_model is an alignment model and belongs in"):
        AlignedPair(pair.alignment, pair.lexical)
    plain = types.SimpleNamespace(
        name="transformer",
        capabilities=Capabilities(),
        hparams=types.SimpleNamespace(features=()),
    )
    with pytest.raises(UserError, match="transformer reads no alignment and cannot use an align"):
        AlignedPair(plain, pair.alignment)
    with pytest.raises(UserError, match="alignment_assisted_transformer is not an alignment model"):
        AlignedPair(pair.lexical, pair.lexical)
