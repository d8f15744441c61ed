"""Scores the translations of `seeds_together.py`: means over seeds, and p against the first run.

    python benchmarks/seeds_scores.py --problem=translate_ende_multi30k_moses --data_dir=data \\
        --runs=runs/0,runs/1 --output=scores --tokenize=none

Writes the translations as text, `scores/0-1234.test` for the first run and its first seed, and
prints BLEU, chrF and TER of dev and test: mean and standard deviation over the seeds, each seed's
BLEU, and p by paired bootstrap with the seeds pooled.
"""

from __future__ import annotations

import argparse
import pathlib
import statistics
from typing import Any

import numpy as np
from script import run_script


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--problem", required=True)
    options.add_argument("--data_dir", required=True)
    options.add_argument("--runs", required=True, help="folders with ids.npz; the first: baseline")
    options.add_argument("--output", required=True, type=pathlib.Path, help="folder of the texts")
    options.add_argument("--seeds", default="1234,4321,2023")
    options.add_argument("--tokenize", default="13a", help="of BLEU; none: tokens as they are")
    args = options.parse_args()
    from t2t_phrase import registry
    from t2t_phrase.data.problem import get_problem
    from t2t_phrase.evaluation.pooled_bootstrap import pooled_p_value

    registry.discover()
    problem = get_problem(args.problem)
    encoder = problem.vocabularies(args.data_dir).target
    args.output.mkdir(parents=True, exist_ok=True)
    seeds = args.seeds.split(",")
    texts = {run: texts_of(pathlib.Path(run), encoder) for run in args.runs.split(",")}
    for run, by_name in texts.items():
        if any(len(by_seed) != len(seeds) for by_seed in by_name.values()):
            options.error(f"--seeds={args.seeds}: {run} has another number of seeds")
    first, *_ = texts.values()
    signatures: set[str] = set()
    for number, (run, by_name) in enumerate(texts.items()):
        for name, by_seed in by_name.items():
            _, lines = problem.raw_text(args.data_dir, name.split("_")[-1])
            scores = scores_of(by_seed, lines, args.tokenize)
            signatures |= {f"{own[0].name} {own[0].signature}" for own in scores.values()}
            print(run, name, described(scores), end=" ")
            if by_name is not first and name in first:
                p_value = pooled_p_value(by_seed, first[name], lines, tokenize=args.tokenize)
                print(f"p = {p_value:.4f}", end="")
            print(flush=True)
            for seed, own in zip(seeds, by_seed, strict=True):
                path = args.output / f"{number}-{seed}.{name}"
                path.write_text("".join(f"{line}\n" for line in own), encoding="utf-8")
    print(*sorted(signatures), sep="\n")


def texts_of(run: pathlib.Path, encoder: Any) -> dict[str, list[list[str]]]:
    """Return the translations of each seed by "UPDATES_SPLIT", or by "SPLIT" for an ensemble."""
    with np.load(run / "ids.npz") as saved:
        return {
            name: [[encoder.decode(row.tolist()) for row in rows] for rows in saved[name]]
            for name in saved.files
        }


def scores_of(
    by_seed: list[list[str]], references: list[str], tokenize: str
) -> dict[str, list[Any]]:
    """Return the scores of each seed, by metric."""
    from t2t_phrase.evaluation.scores import corpus_score

    return {
        metric: [corpus_score(metric, own, references, tokenize=tokenize) for own in by_seed]
        for metric in ("bleu", "chrf", "ter")
    }


def described(scores: dict[str, list[Any]]) -> str:
    """Return the scores of a system in one line."""
    parts = []
    for by_seed in scores.values():
        values = [score.value for score in by_seed]
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        each = ", ".join(f"{value:.2f}" for value in values)
        parts.append(f"{by_seed[0].name} {statistics.mean(values):.2f} ± {deviation:.2f} ({each})")
    return " ".join(parts)


if __name__ == "__main__":
    run_script(main)
