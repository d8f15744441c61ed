"""The runs of a comparison: training, averaging and translating with sets and seeds."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Sequence
from typing import NamedTuple

from t2t_phrase.comparison import steps
from t2t_phrase.comparison.recipe import GRAMMAR, Recipe
from t2t_phrase.config import UserError
from t2t_phrase.decoding.feature_files import file_beside
from t2t_phrase.features import of_side


def finish_training(recipe: Recipe, name: str, seed: int, *, train: bool = True) -> bool:
    """Train and average a set and seed; return whether that is finished.

    Args:
        recipe: the settings that all runs share.
        name: hparams set, with or without changes.
        seed: of the run.
        train: whether to train if the training is not finished.

    Raises:
        UserError: a command failed, or a run is there that the recipe would not give.
    """
    recipe.check_not_longer(name, seed)
    commands = recipe.commands(name, seed)
    log = recipe.place(name, seed, ".log")
    if not recipe.has_trained(name, seed):
        if not train:
            return False
        steps.run("trainer", commands["trainer"], log)
    else:
        recipe.check_same(name, seed)
    last = recipe.place(name, seed) / f"model.ckpt-{recipe.train_steps}.index"
    averaged = recipe.place(name, seed, "-averaged")
    steps.make("avg", commands["avg"], made=averaged, sources=[last], log=log)
    return True


def finish(recipe: Recipe, name: str, seed: int, *, train: bool) -> bool:
    """Run all steps of a set and seed; return whether they are finished.

    Args:
        recipe: the settings that all runs share.
        name: hparams set, with or without changes.
        seed: of the run.
        train: whether to train if the training is not finished.

    Raises:
        UserError: a command failed, or a run is there that the recipe would not give.
    """
    if not finish_training(recipe, name, seed, train=train):
        return False
    commands = recipe.commands(name, seed)
    log, averaged = recipe.place(name, seed, ".log"), recipe.place(name, seed, "-averaged")
    model = averaged / "checkpoint"
    features = of_side(recipe.hparams_of(name).features, "source")

    def with_features(file: pathlib.Path) -> list[pathlib.Path]:
        beside = (file_beside(str(file), feature) for feature in features)
        return [file, *(pathlib.Path(path) for path in beside if path)]

    made, sources = recipe.translation(name, seed), [model, *with_features(recipe.test.source)]
    steps.make("decoder", commands["decoder"], made=made, sources=sources, log=log)
    if recipe.contrastive:
        sources = [model]
        if recipe.contrastive != GRAMMAR:
            sources += with_features(pathlib.Path(recipe.contrastive))
        made = recipe.contrasts(name, seed)
        steps.make("contrast", commands["contrast"], made=made, sources=sources, log=log)
    return True


class Finished(NamedTuple):
    """Finished and failed runs.

    Attributes:
        done: the set and seed of each finished run.
        failed: the exit code by name of each failed run.
    """

    done: list[tuple[str, int]]
    failed: dict[str, int]


def compare(recipe: Recipe, sets: Sequence[str], seeds: Sequence[int], *, train: bool) -> Finished:
    """Train, average and translate with each set and seed; failures do not stop the others.

    Args:
        recipe: the settings that all runs share.
        sets: hparams sets, with or without changes.
        seeds: random seeds.
        train: whether to train runs that are not finished.
    """
    done, failed = [], {}
    # Seeds in the outer loop, so that all sets can be compared after each.
    for seed in seeds:
        for name in sets:
            try:
                if finish(recipe, name, seed, train=train):
                    done.append((name, seed))
                else:
                    print(f"{recipe.why_unfinished(name, seed)}: {name}-{seed}")
            except UserError as error:
                print(f"error: {error}", file=sys.stderr)
                failed[f"{name}-{seed}"] = error.exit_code
    done.sort(key=lambda run: (sets.index(run[0]), seeds.index(run[1])))
    return Finished(done, failed)
