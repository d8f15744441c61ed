"""The perplexity of the development set under the averaged model of a set and seed."""

from __future__ import annotations

import pathlib

from alignment_steps import reported

from t2t_phrase.comparison import steps
from t2t_phrase.comparison.recipe import Recipe


def evaluate(recipe: Recipe, name: str, seed: int) -> None:
    """Score the development set, teacher-forced, unless it is done already."""
    averaged, log = recipe.place(name, seed, "-averaged"), _log(recipe, name, seed)
    flags = [f"--problem={recipe.problem}", f"--hparams_set={name}"]
    flags += [f"--hparams={recipe.hparams}", f"--data_dir={recipe.data_dir}"]
    flags += [f"--output_dir={averaged}", f"--random_seed={seed}", "--schedule=evaluate"]
    flags.append(f"--train_steps={recipe.train_steps}")
    flags += ["--eval_steps=0", "--noeval_run_autoregressive"]
    steps.make("trainer", flags, made=log, sources=[averaged / "checkpoint"], log=log)


def perplexity(recipe: Recipe, name: str, seed: int) -> float:
    """Return the perplexity per token that `evaluate` found."""
    found = reported(_log(recipe, name, seed), r"dev .*perplexity (\S+)")
    assert found, "the trainer printed no perplexity"
    return float(found[0])


def _log(recipe: Recipe, name: str, seed: int) -> pathlib.Path:
    return recipe.place(name, seed, ".dev.log")
