"""The examples of operations run, and their comments are right."""

import pytest

from t2t_phrase.ops.masks import causal_mask
from t2t_phrase.ops.ngram_masks import ngram_memory_mask
from t2t_phrase.ops.ngrams import unfold
from t2t_phrase.ops.partition import fixed_partition, level_partition
from tests.support.docstring_examples import example, run

FUNCTIONS = (causal_mask, fixed_partition, level_partition, ngram_memory_mask, unfold)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_examples_run(function):
    assert run(example(function))
