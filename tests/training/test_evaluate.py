"""The scores of a development set are those of its batches together."""

import dataclasses

import pytest
from tiny_training import make_stepper, make_trainer


@pytest.fixture(scope="module")
def evaluator(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return make_trainer(folder, files, make_stepper(), train_steps=1, evaluate=True).evaluator


@pytest.mark.parametrize("steps", [0, 1, 3, 1000])
def test_means_are_over_all_tokens_of_as_many_batches_as_asked_for(evaluator, steps):
    batches = evaluator.batches[:steps] if steps else evaluator.batches
    assert len(evaluator.batches) > 3
    total = sum(float(evaluator.stepper.evaluate(b.features)["nll"].total) for b in batches)
    tokens = sum(batch.target_tokens for batch in batches)
    found = dataclasses.replace(evaluator, eval_steps=steps).evaluate()
    assert found.tokens == tokens
    assert found.means["nll"] == pytest.approx(total / tokens, rel=1e-5)
