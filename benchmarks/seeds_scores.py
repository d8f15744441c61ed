"""Scores the translations of `seeds_together.py`: means over seeds, and p against the first run.

    python benchmarks/seeds_scores.py --problem=translate_ende_multi30k_moses --data_dir=data \\
        --runs=runs/0,runs/1 --output=scores --tokenize=none

Writes the translations as text, `scores/0-1234.test` for the first run and its first seed, and
prints BLEU, chrF and TER of dev and test: mean and standard deviation over the seeds, the BLEU of
each seed, and p by paired bootstrap with the seeds pooled. `--by_length=10,13,16,20` also prints
mean BLEU of dev and test together, by the number of source words and of all sentences.
"""

from __future__ import annotations

import argparse
import itertools
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
    options.add_argument("--baseline_updates", help="of the baseline for p; default: as many")
    options.add_argument("--by_length", help="numbers of source words that begin a range")
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
            updates, _, split = name.rpartition("_")
            _, lines = problem.raw_text(args.data_dir, split)
            scores = scores_of(by_seed, lines, args.tokenize)
            signatures |= {f"{own[0].name} {own[0].signature}" for own in scores.values()}
            print(run, name, described(scores), end=" ")
            other = first.get("_".join(filter(None, (args.baseline_updates or updates, split))))
            if other and other is not by_seed:
                p_value = pooled_p_value(by_seed, other, lines, tokenize=args.tokenize)
                print(f"p = {p_value:.4f}", end="")
            print(flush=True)
            for seed, own in zip(seeds, by_seed, strict=True):
                path = args.output / f"{number}-{seed}.{name}"
                path.write_text("".join(f"{line}\n" for line in own), encoding="utf-8")
    print(*sorted(signatures), sep="\n")
    if args.by_length:
        sides = [problem.raw_text(args.data_dir, split) for split in ("dev", "test")]
        source, references = ([*a, *b] for a, b in zip(*sides, strict=True))
        starts = [int(start) for start in args.by_length.split(",")]
        print_by_length(texts, source, references, starts, args.tokenize)


def print_by_length(
    texts: dict[str, dict[str, list[list[str]]]],
    source: list[str],
    references: list[str],
    starts: list[int],
    tokenize: str,
) -> None:
    """Print the mean BLEU of each run after its last update by the number of source words.

    The last range has all sentences.
    """
    words = [len(text.split()) for text in source]
    first, *_ = texts.values()
    last = max(words) + 1
    for low, high in [*itertools.pairwise([0, *starts, last]), (0, last)]:
        chosen = [number for number, count in enumerate(words) if low <= count < high]
        for run, by_name in texts.items():
            scores = compared(by_name, first, references, chosen, tokenize)
            print(f"{run} {low} to {high - 1} words, {len(chosen)} sentences: {scores}", flush=True)


def compared(
    by_name: dict[str, list[list[str]]],
    first: dict[str, list[list[str]]],
    references: list[str],
    chosen: list[int],
    tokenize: str,
) -> str:
    """Return the mean BLEU of some sentences of dev and test, after the last update, and its p."""
    from t2t_phrase.evaluation.pooled_bootstrap import pooled_p_value

    def of_chosen(run: dict[str, list[list[str]]]) -> list[list[str]]:
        dev, test = [*run.values()][-2:]
        both = ([*a, *b] for a, b in zip(dev, test, strict=True))
        return [[own[number] for number in chosen] for own in both]

    lines = [references[number] for number in chosen]
    systems = of_chosen(by_name)
    found = f"BLEU {statistics.mean(bleu(own, lines, tokenize) for own in systems):.2f}"
    if by_name is not first:
        p_value = pooled_p_value(systems, of_chosen(first), lines, tokenize=tokenize)
        found += f" p = {p_value:.4f}"
    return found


def bleu(translations: list[str], references: list[str], tokenize: str) -> float:
    from t2t_phrase.evaluation.scores import corpus_score

    return corpus_score("bleu", translations, references, tokenize=tokenize).value


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
