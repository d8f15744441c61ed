"""The best source positions of known translations, against all there are."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from exact_models import padded
from tiny_pair import make_pair

from t2t_phrase.compile import compiled
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.alignment_expansion import alignment_expansion
from t2t_phrase.decoding.search.forced_search import Forced, forced_search

SOURCES = [[5, 9, 1], [4, 7, 3, 8, 1], [1]]
TARGETS = [[6, 3, 1], [1], [8, 4, 2, 1]]
PAIRS = list(zip(SOURCES, TARGETS, strict=True))
WEIGHT = 0.5


@functools.cache
def pair_of(kind: str) -> Any:
    return make_pair(kind)


def forced(
    kind: str, sources: Any, targets: Any, *, xla: bool | None = None, **options: Any
) -> Forced:
    """Search eagerly, or in a graph with or without XLA."""
    hparams = DecodeHParams(alignment_weight=WEIGHT, **options)
    make_expansion = functools.partial(alignment_expansion, pair_of(kind))

    def run(features: Any) -> Forced:
        return forced_search(pair_of(kind), features, hparams, make_expansion)

    features = {"inputs": padded(sources, extra=1), "targets": padded(targets, extra=2)}
    return run(features) if xla is None else compiled(run, xla=xla)(features)


def score(kind: str, source: Any, target: Any, paths: Any) -> np.ndarray:
    """Return the score of a target with each of some alignments."""
    pair, paths = pair_of(kind), np.array(paths, "int32")
    features = {
        "inputs": np.tile(np.array(source, "int32"), (len(paths), 1)),
        "targets": np.tile(np.array(target, "int32"), (len(paths), 1)),
        "alignment": paths,
    }
    words, jumps = (
        np.asarray(model.token_log_probabilities(features)).sum(axis=1)
        for model in (pair.lexical, pair.alignment)
    )
    return words + WEIGHT * jumps


@pytest.mark.parametrize(
    ("kind", "pairs", "beam_size"),
    [
        ("plain", [([5, 1], [6, 1])], 4),
        pytest.param("plain", PAIRS, 27, marks=pytest.mark.slow),
        pytest.param("rnns", PAIRS, 27, marks=pytest.mark.slow),
    ],
)
def test_a_wide_beam_finds_the_best_of_all_alignments(
    kind: str, pairs: Any, beam_size: int
) -> None:
    sources, targets = zip(*pairs, strict=True)
    # Scores are those of the original weights.
    options = {"beam_size": beam_size, "alignment_threshold": 0.0, "quantize": "int8"}
    found = forced(kind, sources, targets, **options)
    for row, (source, target) in enumerate(pairs):
        paths = list(itertools.product(range(len(source)), repeat=len(target)))
        scores = score(kind, source, target, paths)
        best = int(scores.argmax())
        assert float(found.scores[row]) == pytest.approx(scores[best], abs=1e-4)
        assert tuple(np.asarray(found.positions)[row, : len(target)]) == paths[best]


@pytest.mark.slow
@pytest.mark.parametrize("xla", [False, True])
def test_pruned_or_greedy_the_score_is_that_of_the_positions(xla: bool) -> None:
    for options in ({"beam_size": 2, "alignment_threshold": 0.15, "alpha": 2.0}, {"beam_size": 1}):
        found = forced("plain", SOURCES, TARGETS, xla=xla, **options)
        for row, (source, target) in enumerate(PAIRS):
            positions = np.asarray(found.positions)[row, : len(target)]
            expected = score("plain", source, target, [positions])[0]
            assert float(found.scores[row]) == pytest.approx(expected, abs=1e-4)


def test_the_limits_of_an_outputs_length_do_not_matter() -> None:
    pair = make_pair("plain")
    features = {"inputs": padded([[5, 1]], extra=1), "targets": padded([[6, 1]], extra=2)}
    make_expansion = functools.partial(alignment_expansion, pair)
    plain, limited = (
        forced_search(pair, features, DecodeHParams(beam_size=4, min_length=least), make_expansion)
        for least in (0, 5)
    )
    np.testing.assert_array_equal(plain.scores, limited.scores)
    np.testing.assert_array_equal(plain.positions, limited.positions)
