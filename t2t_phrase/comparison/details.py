"""Optional tables of t2t-phrase-compare: BLEU by length, n-grams, contrastive accuracy."""

from __future__ import annotations

import json
import pathlib
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from t2t_phrase.comparison.scoring import Scoring
from t2t_phrase.comparison.table import grid
from t2t_phrase.evaluation.by_length import bleu_by_length
from t2t_phrase.evaluation.ngram_precision import ngram_precisions
from t2t_phrase.evaluation.p_text import p_text

# Names of subject-verb agreement in the grammar and in LingEval97.
AGREEMENT = ("agreement", "subj_verb_agreement")


def by_length(
    texts: Mapping[tuple[str, int], Sequence[str]],
    references: Sequence[Sequence[str]],
    sources: Sequence[str],
    boundaries: Sequence[int],
    scoring: Scoring,
) -> tuple[str, dict[str, dict[str, float]]]:
    """Return a table of BLEU by set and source length, averaged over the seeds.

    Returns:
        (Markdown, the means by set and group), without empty groups.
    """
    scores: dict[str, dict[str, list[float]]] = {}
    sizes = {}
    for (name, _), text in texts.items():
        for group in bleu_by_length(
            text,
            references,
            sources,
            boundaries=boundaries,
            tokenize=scoring.tokenize,
            lowercase=scoring.lowercase,
        ):
            if group.score is not None:
                sizes[group.name] = group.sentences
                scores.setdefault(name, {}).setdefault(group.name, []).append(group.score.value)
    found = {
        name: {group: statistics.mean(values) for group, values in groups.items()}
        for name, groups in scores.items()
    }
    rows = [["BLEU by source length", *(f"{group} ({size})" for group, size in sizes.items())]]
    rows += [
        [f"`{name}`", *(f"{groups[group]:.2f}" for group in sizes)]
        for name, groups in found.items()
    ]
    return grid(rows), found


def ngrams(
    texts: Mapping[tuple[str, int], Sequence[str]],
    references: Sequence[Sequence[str]],
    baseline: str,
    orders: int,
    scoring: Scoring,
) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    """Return a table of n-gram precision by set and order, averaged over the seeds.

    The baseline's row has its precision; the rows of other sets have the difference from it, and p
    for each seed that both sets have. Without such a seed, they have their precision.

    Returns:
        (Markdown, values of each order by set).
    """
    found: dict[str, list[dict[str, Any]]] = {}
    rows = [["n-gram precision", *map(str, range(1, orders + 1))]]
    for name in dict.fromkeys(name for name, _ in texts):
        made = {
            seed: ngram_precisions(
                text,
                references,
                orders=orders,
                baseline=None if name == baseline else texts.get((baseline, seed)),
                tokenize=scoring.tokenize,
                lowercase=scoring.lowercase,
            ).orders
            for (other, seed), text in texts.items()
            if other == name
        }
        own = found[name] = [
            {
                "order": order + 1,
                "precision": _mean(row[order].precision for row in made.values()),
                "difference": _mean(row[order].difference for row in made.values()),
                "p_by_seed": {
                    seed: row[order].p_value
                    for seed, row in made.items()
                    if row[order].p_value is not None
                },
            }
            for order in range(orders)
        ]
        compared = any(value["difference"] is not None for value in own)
        shown, form = ("difference", "{:+.2f}") if compared else ("precision", "{:.2f}")
        title = f"`{name}`" if compared or name == baseline else f"`{name}` (not compared)"
        rows.append([title, *("-" if v[shown] is None else form.format(v[shown]) for v in own)])
        p_values = [", ".join(p_text(p, places=3) for p in v["p_by_seed"].values()) for v in own]
        if any(p_values):
            rows.append(["p", *p_values])
    return grid(rows), found


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.mean(known) if known else None


def contrastive(files: Mapping[tuple[str, int], pathlib.Path]) -> tuple[str, dict[str, object]]:
    """Return tables of the accuracies of t2t-phrase-contrast, over all seeds of a set.

    Args:
        files: the results of each set and seed, all on the same pairs.

    Returns:
        (Markdown: by kind, and by distance for subject-verb agreement; all counts by set).
    """
    counts: dict[str, dict[tuple[str, ...], list[int]]] = {}
    for (name, _), path in files.items():
        content = json.loads(path.read_text())
        own = counts.setdefault(name, {})
        for kind, share in content["kinds"].items():
            _add(own, (kind,), share)
            for distance, near in content["distances"].get(kind, {}).items():
                _add(own, (kind, distance), near)
    keys = list(dict.fromkeys(key for own in counts.values() for key in own))
    first = next(iter(counts))
    seeds = sum(name == first for name, _ in files)
    kinds = [key for key in keys if len(key) == 1]
    tables = [_table("contrastive accuracy", counts, kinds, seeds)]
    for kind in AGREEMENT:
        distances = [key for key in keys if key[0] == kind and len(key) == 2]
        if distances:
            tables.append(_table(f"{kind} by distance", counts, distances, seeds))
    found: dict[str, object] = {
        name: {
            " ".join(key): {"right": right, "total": total} for key, (right, total) in own.items()
        }
        for name, own in counts.items()
    }
    return "\n\n".join(tables), found


def _add(
    counts: dict[tuple[str, ...], list[int]], key: tuple[str, ...], share: Mapping[str, int]
) -> None:
    right, total = counts.get(key, (0, 0))
    counts[key] = [right + share["right"], total + share["total"]]


def _table(
    title: str,
    counts: Mapping[str, Mapping[tuple[str, ...], Sequence[int]]],
    keys: Sequence[tuple[str, ...]],
    seeds: int,
) -> str:
    """Return the accuracies by set and key, with the number of pairs of each key.

    Args:
        title: of the first column.
        counts: right decisions and all of them, over the seeds of each set.
        keys: the columns.
        seeds: number of seeds of the first set.
    """
    first = next(iter(counts.values()))
    rows = [[title, *(f"{key[-1]} ({first[key][1] // seeds})" for key in keys)]]
    for name, own in counts.items():
        shares = [f"{100 * own[key][0] / own[key][1]:.2f}%" for key in keys]
        rows.append([f"`{name}`", *shares])
    return grid(rows)
