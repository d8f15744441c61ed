"""The hidden Markov model against sums and maxima over all alignments."""

import numpy as np
import pytest
from reference_aligner import hmm_expectations, hmm_iteration, pairs_of_words, paths

from t2t_phrase.word_aligner import hmm, jumps

OPTIONS = {"empty": hmm.EMPTY, "uniform": jumps.UNIFORM}


def drawn(seed, *, source, target):
    """Return a pair of different words, its lexicon, jumps, and the arguments of `expect`."""
    generator = np.random.default_rng(seed)
    pair = [f"e{i}" for i in range(source)], [f"f{j}" for j in range(target)]
    t = {words: generator.uniform(0.01, 1) for words in sorted(pairs_of_words([pair]), key=str)}
    weights = generator.uniform(0.1, 3, 2 * 6 + 1)
    emissions = np.array([[t[e, f] for e in (None, *pair[0])] for f in pair[1]])[:, None]
    by_jump = {jump: weights[jump + 6] for jump in range(-6, 7)}
    return pair, t, by_jump, emissions, jumps.transitions(weights, source)


@pytest.mark.parametrize(("source", "target"), [(1, 1), (1, 4), (4, 1), (3, 5), (5, 3)])
def test_expectations_and_best_alignments(source, target):
    cases = [drawn(seed, source=source, target=target) for seed in range(3)]
    moving = cases[0][4]
    emissions = np.concatenate([case[3] for case in cases], axis=1)
    posteriors, moves, likelihood = hmm.expect(emissions, moving)
    best = hmm.best_path(emissions, moving)
    expected_moves, expected_likelihood = 0, 0.0
    for n, (pair, t, _, _, _) in enumerate(cases):
        weights = cases[0][2]
        wanted, wanted_moves, total = hmm_expectations(*pair, t, weights, **OPTIONS)
        np.testing.assert_allclose(posteriors[:, n], wanted, rtol=1e-9)
        expected_moves += wanted_moves
        expected_likelihood += np.log(total)
        ranked = max(paths(*pair, t, weights, **OPTIONS), key=lambda found: found[1])
        assert best[n].tolist() == list(ranked[0])
    np.testing.assert_allclose(moves, expected_moves, rtol=1e-9)
    assert likelihood == pytest.approx(expected_likelihood, rel=1e-9)
    np.testing.assert_allclose(posteriors.sum(axis=2), 1)


def test_iterations_are_those_of_the_equations(tiny):
    values = {words: 0.1 + (len(str(words)) % 5) / 10 for words in pairs_of_words(tiny.corpus)}
    table, weights = tiny.table(values), jumps.uniform(4)
    by_jump = dict.fromkeys(range(-4, 5), 1.0)
    for _ in range(3):
        table, weights, likelihood = hmm.iteration(tiny.cells, table, weights)
        values, by_jump, wanted = hmm_iteration(tiny.corpus, values, by_jump, **OPTIONS)
        np.testing.assert_allclose(table, tiny.table(values), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(weights, [by_jump[jump] for jump in range(-4, 5)], atol=1e-9)
        assert likelihood == pytest.approx(wanted, rel=1e-9)
    found = {
        number: path
        for pairs, best in hmm.viterbi(tiny.cells, table, weights)
        for number, path in zip(pairs.tolist(), best.tolist(), strict=True)
    }
    for number, pair in enumerate(tiny.corpus):
        probabilities = dict(paths(*pair, values, by_jump, **OPTIONS))
        assert probabilities[tuple(found[number])] == pytest.approx(
            max(probabilities.values()), rel=1e-6
        )


def test_long_sentences_neither_vanish_nor_overflow(monkeypatch):
    generator = np.random.default_rng(0)
    emissions = generator.uniform(1e-12, 1e-9, (200, 3, 201))
    moving = jumps.transitions(jumps.uniform(200), 200)
    posteriors, moves, likelihood = hmm.expect(emissions, moving)
    assert np.isfinite(posteriors).all() and np.isfinite(moves).all() and likelihood < -3000
    np.testing.assert_allclose(posteriors.sum(axis=2), 1)
    whole = hmm.best_path(emissions, moving)
    np.testing.assert_array_equal(whole[1:2], hmm.best_path(emissions[:, 1:2], moving))
