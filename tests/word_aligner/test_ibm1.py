"""IBM model 1 against loops over words."""

import numpy as np
import pytest
from reference_aligner import ibm1_iteration, pairs_of_words

from t2t_phrase.word_aligner import ibm1, lexicon


def test_iterations_are_those_of_the_equations(tiny):
    table = lexicon.uniform(tiny.cells)
    expected = dict.fromkeys(pairs_of_words(tiny.corpus), 1 / 5)
    likelihoods = []
    for _ in range(4):
        np.testing.assert_allclose(table, tiny.table(expected), rtol=1e-12)
        table, likelihood = ibm1.iteration(tiny.cells, table)
        expected, wanted = ibm1_iteration(tiny.corpus, expected)
        assert likelihood == pytest.approx(wanted, rel=1e-12)
        likelihoods.append(likelihood)
    assert likelihoods == sorted(likelihoods) and likelihoods[0] < likelihoods[-1] - 1
