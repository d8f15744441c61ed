"""Idioms, compounds and particle verbs in the table of t2t-phrase-compare."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from t2t_phrase.evaluation.p_text import p_text
from t2t_phrase.evaluation.phenomena import Judgement, accuracies, compare


def rows(
    judged: Mapping[tuple[str, int], Sequence[Judgement]], baseline: str
) -> dict[str, dict[str, dict[str, object]]]:
    """Return counts, mean accuracy over the seeds, and p for each seed, by set and kind.

    Args:
        judged: judgements of each set and seed.
        baseline: the set with which the others are compared, seed by seed.
    """
    made: dict[str, dict[str, dict[str, object]]] = {}
    for name in dict.fromkeys(name for name, _ in judged):
        seeds = [seed for other, seed in judged if other == name]
        counts = {seed: {a.kind: a for a in accuracies(judged[name, seed])} for seed in seeds}
        compared = {
            seed: {c.kind: c for c in compare(judged[name, seed], judged[baseline, seed])}
            for seed in seeds
            if name != baseline and (baseline, seed) in judged
        }
        made[name] = {
            kind: {
                "total": first.total,
                "accuracy": statistics.mean(counts[seed][kind].percent for seed in seeds),
                "right_by_seed": {seed: counts[seed][kind].right for seed in seeds},
                "in_order_by_seed": {seed: counts[seed][kind].in_order for seed in seeds},
                "gained_by_seed": {seed: found[kind].gained for seed, found in compared.items()},
                "lost_by_seed": {seed: found[kind].lost for seed, found in compared.items()},
                "p_by_seed": {seed: found[kind].p_value for seed, found in compared.items()},
            }
            for kind, first in counts[seeds[0]].items()
        }
    return made


def columns(made: Mapping[str, Mapping[str, Mapping[str, object]]]) -> dict[str, dict[str, str]]:
    """Return columns for `table.markdown` by title and set: each accuracy, then its p."""
    found: dict[str, dict[str, str]] = {}
    for name, kinds in made.items():
        for kind, values in kinds.items():
            found.setdefault(f"{kind}s", {})[name] = f"{values['accuracy']:.2f}%"
            p_values = values["p_by_seed"]
            assert isinstance(p_values, dict)
            found.setdefault(f"p ({kind}s)", {})[name] = ", ".join(
                p_text(value, places=3) for value in p_values.values()
            )
    return found
