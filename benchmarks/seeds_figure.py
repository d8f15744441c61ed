"""Draws BLEU of systems of `seeds_together.py` by updates and by the length of the source.

    python benchmarks/seeds_figure.py --problem=translate_ende_multi30k_moses --data_dir=data \\
        --runs=Transformer=runs/0,ConvKV=runs/1 --tokenize=none --output=figure.svg

Left: BLEU of the test set after each number of updates, means over the seeds, with their range.
Right: BLEU of dev and test together after the last update, by the number of source words that
begin a range (`--by_length`), less that of the first system.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from script import run_script
from seeds_scores import bleu, texts_of

# Of the first, the second, ... system.
COLOURS = ("#808080", "#303030", "#1f5fa8", "#b5522b")
MARKERS = ("o", "D", "s", "^")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--problem", required=True)
    options.add_argument("--data_dir", required=True)
    options.add_argument("--runs", required=True, help="LABEL=FOLDER,...; the first: baseline")
    options.add_argument("--output", required=True, type=pathlib.Path, help="file of the figure")
    options.add_argument("--tokenize", default="13a", help="of BLEU; none: tokens as they are")
    options.add_argument("--by_length", default="10,13,16,20")
    args = options.parse_args()
    runs = dict(pair.split("=", 1) for pair in args.runs.split(",") if "=" in pair)
    if not 1 < len(runs) <= len(COLOURS):
        options.error(f"--runs={args.runs}: LABEL=FOLDER of 2 to {len(COLOURS)} systems is needed")
    from t2t_phrase import registry
    from t2t_phrase.data.problem import get_problem
    from t2t_phrase.figure_files import picture_of

    registry.discover()
    problem = get_problem(args.problem)
    encoder = problem.vocabularies(args.data_dir).target
    texts = {label: texts_of(pathlib.Path(run), encoder) for label, run in runs.items()}
    sides = [problem.raw_text(args.data_dir, split) for split in ("dev", "test")]
    sources, references = ([*a, *b] for a, b in zip(*sides, strict=True))
    starts = [int(start) for start in args.by_length.split(",")]
    names = [f"{low} to {high - 1}" for low, high in itertools.pairwise(starts)]
    figure = drawn(
        {label: by_updates(own, sides[1][1], args.tokenize) for label, own in texts.items()},
        by_length(texts, sources, references, starts, args.tokenize),
        [f"under {starts[0]}", *names, f"from {starts[-1]}"],
    )
    args.output.write_bytes(picture_of(figure, args.output.suffix.lstrip(".")))
    print(f"written: {args.output}")


def by_updates(
    by_name: Mapping[str, list[list[str]]], references: list[str], tokenize: str
) -> dict[int, list[float]]:
    """Return BLEU of each seed on the test set, by updates."""
    return {
        int(name.removesuffix("_test")): [bleu(own, references, tokenize) for own in by_seed]
        for name, by_seed in by_name.items()
        if name.endswith("_test")
    }


def by_length(
    texts: Mapping[str, Mapping[str, list[list[str]]]],
    sources: Sequence[str],
    references: Sequence[str],
    starts: Sequence[int],
    tokenize: str,
) -> dict[str, list[float]]:
    """Return mean BLEU of each system in each range, less that of the first system.

    Args:
        texts: translations of dev and test, by system and "UPDATES_SPLIT".
        sources: of dev, then of test.
        references: likewise.
        starts: numbers of source words that begin a range, from the second one on.
        tokenize: tokenizer of BLEU.
    """
    numbers = np.digitize([len(source.split()) for source in sources], starts)
    ranges = [np.flatnonzero(numbers == number) for number in range(len(starts) + 1)]
    means = {}
    for label, by_name in texts.items():
        dev, test = [*by_name.values()][-2:]
        seeds = [[*a, *b] for a, b in zip(dev, test, strict=True)]
        means[label] = [
            statistics.mean(
                bleu([own[i] for i in chosen], [references[i] for i in chosen], tokenize)
                for own in seeds
            )
            for chosen in ranges
        ]
    first, *_ = means.values()
    return {
        label: [value - other for value, other in zip(own, first, strict=True)]
        for label, own in means.items()
    }


def drawn(
    curves: Mapping[str, Mapping[int, Sequence[float]]],
    differences: Mapping[str, Sequence[float]],
    ranges: Sequence[str],
) -> Any:
    """Return the figure.

    Args:
        curves: BLEU of each seed, by system and updates.
        differences: BLEU less that of the first system, by system and range of lengths.
        ranges: names of the ranges.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.6), dpi=160, layout="tight")
    FigureCanvasAgg(figure)
    updates, lengths = figure.subplots(1, 2)
    baseline, *others = curves
    for number, (label, points) in enumerate(curves.items()):
        style = {"color": COLOURS[number], "marker": MARKERS[number], "markersize": 4}
        means = [statistics.mean(values) for values in points.values()]
        below = [mean - min(own) for mean, own in zip(means, points.values(), strict=True)]
        above = [max(own) - mean for mean, own in zip(means, points.values(), strict=True)]
        updates.errorbar([*points], means, [below, above], capsize=2, label=label, **style)
    updates.set_xlabel("updates")
    updates.set_xticks([*curves[baseline]])
    updates.set_ylabel("BLEU on the test set")
    updates.legend(fontsize=8, loc="lower right")
    width = 0.8 / len(others)
    for number, label in enumerate(others, 1):
        places = np.arange(len(ranges)) + (number - (len(others) + 1) / 2) * width
        lengths.bar(places, differences[label], width, color=COLOURS[number], label=label)
    lengths.axhline(0.0, color="0.6", linewidth=0.8)
    lengths.set_xticks(range(len(ranges)), ranges)
    lengths.set_xlabel("source words")
    lengths.set_ylabel(f"gain in BLEU over {baseline}")
    for axes in (updates, lengths):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    run_script(main)
