"""The manifest that data generation starts from, with the options of the user and the problem."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from t2t_phrase import __version__
from t2t_phrase.config import UserError
from t2t_phrase.data.generation.class_mistakes import class_mistakes
from t2t_phrase.data.generation.manifest import Manifest
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.generation.segmentations import sampling_options
from t2t_phrase.data.generation.vocabulary import vocabulary_options
from t2t_phrase.data.problem import Problem


def new_manifest(problem: Problem, options: GenerateOptions) -> Manifest:
    """Return the manifest of data before anything is made.

    Raises:
        UserError: options contradict each other, or a given vocabulary cannot be used.
    """
    versions = {name: metadata.version(name) for name in ("sentencepiece", "tensorflow")}
    versions["t2t_phrase"] = __version__
    wanted = wanted_options(problem, options)
    return Manifest(problem=problem.base_name, options=wanted, versions=versions)


def wanted_options(problem: Problem, options: GenerateOptions) -> dict[str, Any]:
    """Return everything that determines the bytes of the data: given options, else the problem's.

    Raises:
        UserError: options contradict each other, a given vocabulary cannot be used, or the class
            of the problem is wrong.
    """
    if faults := list(class_mistakes(problem)):
        raise UserError(f"problem {problem.base_name}: {'; '.join(faults)}")
    vocabulary = vocabulary_options(problem, options)
    return {
        "num_shards": options.num_shards or problem.num_shards,
        **vocabulary,
        **sampling_options(
            segmentations=options.sampled_segmentations,
            alpha=options.sampling_alpha,
            sides=options.sampling_sides,
            vocab_type=vocabulary["vocab_type"],
        ),
        "character_coverage": problem.character_coverage,
        "vocab_pairs": problem.vocab_pairs,
        "max_characters": options.max_characters or problem.max_characters,
        "max_cases": options.max_cases,
        "random_seed": options.random_seed,
    }
