"""The example of every model runs, and results have the shapes that its comments state."""

import pytest

from t2t_phrase import registry
from t2t_phrase.models.aligned_pair import AlignedPair
from t2t_phrase.models.ensemble import Ensemble
from tests.support.docstring_examples import example, run

registry.discover()
# Tests may have registered models of their own.
REGISTERED = [
    model
    for model in map(registry.models.__getitem__, registry.models)
    if model.__module__.startswith("t2t_phrase.")
]
MODELS = [*REGISTERED, Ensemble, AlignedPair]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_examples_state_shapes(model):
    code = example(model)
    assert code, "no example"
    assert model.__name__ in code
    assert run(code)
