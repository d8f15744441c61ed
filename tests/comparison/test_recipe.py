"""The commands of a recipe, and the runs that it would give."""

import pytest
from recipes import changed_recipe

from t2t_phrase.comparison import runs
from t2t_phrase.config import UserError

SET = "transformer_tiny"


def test_a_run_of_another_recipe_is_left_to_the_trainer_to_refuse(recipe):
    recipe, _ = recipe
    runs.finish(recipe, SET, 7, train=True)
    assert recipe.has_trained(SET, 7)
    assert not recipe.has_trained(SET, 8)
    assert not changed_recipe(recipe, hparams="num_heads=4").has_trained(SET, 7)
    assert not changed_recipe(recipe, train_steps=80).has_trained(SET, 7)
    # The same values in another notation are the same recipe.
    assert changed_recipe(recipe, hparams="num_heads=2,norm=pre").has_trained(SET, 7)


def test_a_set_with_changes_is_a_run_of_its_own(recipe):
    recipe, ran = recipe
    changed = f"{SET}:num_heads=4+norm=post"
    assert runs.finish(recipe, SET, 7, train=True) and runs.finish(recipe, changed, 7, train=True)
    assert ran == ["trainer", "avg", "decoder", "contrast"] * 2
    flags = recipe.commands(changed, 7)["trainer"]
    assert f"--hparams_set={SET}" in flags and "--hparams=num_heads=4,norm=post" in flags
    assert recipe.has_trained(SET, 7) and recipe.has_trained(changed, 7)
    assert not recipe.has_trained(f"{SET}:num_heads=4", 7)
    assert recipe.place(changed, 7).name == f"{SET}-num_heads=4-norm=post-7"


def test_checkpoints_are_written_at_the_given_frequency(recipe):
    recipe, _ = recipe
    assert "--local_eval_frequency=2" in recipe.commands(SET, 7)["trainer"]
    often = changed_recipe(recipe, local_eval_frequency=15)
    assert "--local_eval_frequency=15" in often.commands(SET, 7)["trainer"]


def test_as_many_checkpoints_are_kept_as_can_be_averaged(recipe):
    recipe, _ = recipe
    assert "--keep_checkpoint_max=20" in recipe.commands(SET, 7)["trainer"]
    changed_recipe(recipe, num_last_checkpoints=20).check_checkpoints()
    with pytest.raises(UserError, match="the last 20 are kept; give at most 20"):
        changed_recipe(recipe, num_last_checkpoints=21).check_checkpoints()
