"""Mistakes in the class of a problem, which its author may have made."""

from __future__ import annotations

import typing
from collections.abc import Iterator

from t2t_phrase.config import shown
from t2t_phrase.data.generation.manifest import SHARD
from t2t_phrase.data.generation.options import MAX_SHARDS, VocabType
from t2t_phrase.data.problem import Problem
from t2t_phrase.features import IDS, PAIRS, Feature
from t2t_phrase.text.symbols import symbol_mistakes

_VOCAB_TYPES = typing.get_args(VocabType)
# Names in shards, in their entries of the manifest, and in batches.
_TAKEN = {
    *IDS.values(),
    *PAIRS.values(),
    *SHARD.required,
    *(f"{side}.splits" for side in IDS),
    "ids",
}


def class_mistakes(problem: Problem) -> Iterator[str]:
    """Yield a message for each attribute of a problem's class with which no data can be made."""
    if problem.vocab_type not in _VOCAB_TYPES:
        yield f"vocab_type = {shown(problem.vocab_type)} is not one of {', '.join(_VOCAB_TYPES)}"
    shards = problem.num_shards
    if type(shards) is not int or not 1 <= shards <= MAX_SHARDS:
        yield f"num_shards = {shown(shards)} is not a number from 1 to {MAX_SHARDS}"
    for name in ("vocab_pairs", "max_characters"):
        if getattr(problem, name) < 1:
            yield f"{name} = {getattr(problem, name)} is not positive"
    # `("<BT>")` is a string, whose letters would be the symbols.
    symbols = problem.user_defined_symbols
    if isinstance(symbols, str):
        yield f"user_defined_symbols = {symbols!r} must be a tuple, such as ('<BT>',)"
    else:
        yield from symbol_mistakes(symbols)
    yield from _feature_mistakes(problem)


def _feature_mistakes(problem: Problem) -> Iterator[str]:
    features = problem.features
    if not isinstance(features, tuple) or not all(isinstance(f, Feature) for f in features):
        yield f"features = {shown(features)} must be a tuple of Feature, such as (PHRASES,)"
        return
    names = [feature.name for feature in features]
    for name in dict.fromkeys(names):
        if name in _TAKEN:
            yield f"features: {name!r} is the name of something else in the records; choose another"
        if names.count(name) > 1:
            yield f"features: {name!r} is given twice"
