"""The examples of evaluation run, and their comments are right."""

import pytest

from t2t_phrase.evaluation.alignment_error import alignment_error
from t2t_phrase.evaluation.by_frequency import f1_by_frequency
from t2t_phrase.evaluation.by_length import bleu_by_length
from t2t_phrase.evaluation.ngram_precision import ngram_precisions
from t2t_phrase.evaluation.pooled_bootstrap import pooled_p_value
from t2t_phrase.evaluation.scores import corpus_score
from t2t_phrase.evaluation.significance import paired_bootstrap
from t2t_phrase.evaluation.systems import compare_systems
from t2t_phrase.evaluation.systems_by_seed import compare_by_seed
from tests.support.docstring_examples import example, run

# The functions, and the number of values that their examples state.
FUNCTIONS = {
    alignment_error: 1,
    bleu_by_length: 2,
    compare_by_seed: 0,
    compare_systems: 0,
    corpus_score: 1,
    f1_by_frequency: 1,
    ngram_precisions: 1,
    paired_bootstrap: 0,
    pooled_p_value: 0,
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_examples_run(function):
    assert run(example(function)) == FUNCTIONS[function]
