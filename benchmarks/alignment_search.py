"""Figure 3 of Alkhouli et al. (2018): speed and BLEU of the search by pruning threshold.

    python benchmarks/alignment_search.py --problem=translate_ende_grammar --data_dir=data \\
        --output_dir=runs/lexical --alignment_model_dir=runs/alignment --work_dir=runs/figure3

First, alignment_weight is chosen from --weights on the development set, by BLEU at
--weight_threshold; a single one, as in --weights=1, is used as it is. Then the test set is
translated with each threshold. All thresholds are timed in one process, batch by batch in turn,
after a first pass that compiles; speed-ups are relative to threshold 0, which prunes nothing. The
results are written to WORK_DIR/figure3.md, .json and .png. The development set is translated by
commands; finished ones are not repeated.

Only the training of the models (by alignment_quality.py) needs alignments.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import os
import pathlib
import statistics
import time
from collections.abc import Sequence
from typing import Any

from alignment_steps import System, Text, kept_text
from experiment import called, experiment_parser
from script import run_script
from trained_runs import newest

from t2t_phrase import registry
from t2t_phrase.comparison import steps
from t2t_phrase.comparison.report import write_report
from t2t_phrase.comparison.table import grid
from t2t_phrase.config import UserError

THRESHOLDS = "0,0.01,0.05,0.1,0.15,0.2,0.3,0.4,0.5"
WEIGHTS = "0.25,0.5,0.75,1,1.5"


@dataclasses.dataclass(frozen=True)
class Point:
    """The measurements at one threshold.

    Attributes:
        bleu: case-insensitive.
        seconds: duration of the search of all sentences, the median over the passes.
        positions: source positions evaluated for each target token.
    """

    threshold: float
    bleu: float
    seconds: float
    positions: float


def score(lines: Sequence[str], reference: Sequence[str]) -> Any:
    """Return case-insensitive BLEU."""
    from t2t_phrase.evaluation.bleu import corpus_bleu

    return corpus_bleu(list(lines), list(reference), lowercase=True)


def choose_weight(
    system: System, text: Text, args: argparse.Namespace, work_dir: pathlib.Path
) -> tuple[float, dict[float, float]]:
    """Return the weight with the highest BLEU on the development set, and BLEU by weight."""
    from t2t_phrase.io.text_files import read_text

    weights = [float(weight) for weight in args.weights.split(",")]
    if len(weights) == 1:
        return weights[0], {}
    sources, references = (
        read_text(str(path))[: args.dev_sentences or None] for path in (text.source, text.target)
    )
    source = work_dir / f"dev-{len(sources)}{text.source.suffix}"
    content = "".join(f"{line}\n" for line in sources)
    # An unchanged file keeps its time stamp, so that files made from it remain valid.
    if not source.exists() or source.read_text(encoding="utf-8") != content:
        source.write_text(content, encoding="utf-8")
    found = {}
    for weight in weights:
        made = work_dir / f"dev-{len(sources)}-{weight:g}{text.target.suffix}"
        options = f"{args.decode_hparams},alignment_threshold={args.weight_threshold}"
        flags = [*system.flags, f"--data_dir={args.data_dir}", f"--decode_from_file={source}"]
        flags += [f"--decode_hparams={options},alignment_weight={weight:g}"]
        flags += [f"--decode_to_file={made}"]
        log = made.with_name(f"{made.name}.log")
        inputs = [newest(system.inputs), source]
        steps.make("decoder", flags, made=made, sources=inputs, log=log)
        found[weight] = score(read_text(str(made)), references).value
    return max(found, key=lambda weight: found[weight]), found


def translators(
    system: System, args: argparse.Namespace, thresholds: Sequence[float], weight: float
) -> list[Any]:
    """Return a translator for each threshold, all with the same weights."""
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.decoding.search.alignment_expansion import alignment_expansion
    from t2t_phrase.decoding.translator import Translator
    from t2t_phrase.models.aligned_pair import AlignedPair
    from t2t_phrase.runs.load_model import load_model
    from t2t_phrase.runs.vocabulary import run_vocabularies

    trained = load_model(system.model)
    pair = AlignedPair(trained.model, load_model(system.alignment).model)
    vocabularies = run_vocabularies(trained, data_dir=args.data_dir, problem=args.problem)
    base = DecodeHParams().override(args.decode_hparams).replace(alignment_weight=weight)
    return [
        Translator(
            pair,
            vocabularies,
            base.replace(alignment_threshold=threshold),
            make_expansion=functools.partial(alignment_expansion, pair),
        )
        for threshold in thresholds
    ]


def one_pass(searches: Sequence[Any], encoded: Any) -> tuple[list[float], list[list[Any]]]:
    """Translate with all searches, batch by batch in turn.

    Returns:
        (seconds of each search, the best hypothesis of each sentence of each search).
    """
    seconds = [0.0] * len(searches)
    found: list[list[Any]] = [[None] * len(encoded.ids) for _ in searches]
    running = [search.batches(encoded) for search in searches]
    order, turn = list(range(len(searches))), 0
    while True:
        # Each batch begins with another search, so that none always follows the same one.
        for number in order[turn:] + order[:turn]:
            start = time.perf_counter()
            done = next(running[number], None)
            if done is None:
                return seconds, found
            seconds[number] += time.perf_counter() - start
            batch, hypotheses = done
            for line, own in zip(batch.lines, hypotheses, strict=True):
                found[number][line] = own[0]
        turn = (turn + 1) % len(order)


def measure(
    searches: Sequence[Any],
    thresholds: Sequence[float],
    sources: Sequence[str],
    references: Sequence[str],
    passes: int,
) -> tuple[list[Point], str]:
    """Return the points, and the signature of their BLEU.

    Args:
        searches: one for each threshold.
        thresholds: of pruning.
        sources: sentences to translate.
        references: their references.
        passes: number of timed passes, after one that compiles.
    """
    encoded = searches[0].encode(sources)
    _, found = one_pass(searches, encoded)
    timed = [one_pass(searches, encoded)[0] for _ in range(passes)]
    points, signature = [], ""
    for number, (threshold, hypotheses) in enumerate(zip(thresholds, found, strict=True)):
        own = [hypothesis for hypothesis in hypotheses if hypothesis is not None]
        bleu = score([getattr(h, "text", "") for h in hypotheses], references)
        signature = bleu.signature
        points.append(
            Point(
                threshold,
                bleu.value,
                statistics.median(seconds[number] for seconds in timed),
                sum(h.positions for h in own) / max(1, sum(h.tokens for h in own)),
            )
        )
    return points, signature


def markdown(points: Sequence[Point]) -> str:
    """Return the points as a table; speed-ups are relative to the first point."""
    lines = [["threshold", "BLEU", "difference", "speed-up", "positions per token"]]
    first = points[0]
    for point in points:
        lines.append(
            [
                f"{point.threshold:g}",
                f"{point.bleu:.2f}",
                "" if point is first else f"{point.bleu - first.bleu:+.2f}",
                f"{first.seconds / point.seconds:.2f}",
                f"{point.positions:.2f}",
            ]
        )
    return grid(lines)


def plot(points: Sequence[Point]) -> Any:
    """Return the figure: speed-up and BLEU by threshold."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 3.2), dpi=160, layout="tight")
    FigureCanvasAgg(figure)
    speed = figure.add_subplot()
    bleu = speed.twinx()
    thresholds = [point.threshold for point in points]
    speeds = [points[0].seconds / point.seconds for point in points]
    speed.plot(thresholds, speeds, "o-", color="#1f5fa8")
    bleu.plot(thresholds, [point.bleu for point in points], "s--", color="#b5522b")
    speed.set_xlabel("threshold")
    speed.set_ylabel("speed-up (circles)", color="#1f5fa8")
    bleu.set_ylabel("BLEU (squares)", color="#b5522b")
    return figure


def report(
    args: argparse.Namespace,
    points: Sequence[Point],
    weight: float,
    grid_of_weights: dict[float, float],
    signature: str,
    sentences: int,
) -> None:
    """Print and write the table, JSON and plot."""
    work_dir = pathlib.Path(args.work_dir).expanduser()
    lines = [markdown(points), ""]
    lines.append(
        f"`{args.problem}`, {sentences} test sentences; BLEU `{signature}`; "
        f"`{args.decode_hparams},alignment_weight={weight:g}`; speed-up: over threshold 0, search "
        f"without compilation, median of {args.passes} passes with all thresholds in turn."
    )
    if grid_of_weights:
        rows = [["alignment_weight", *(f"{w:g}" for w in grid_of_weights)]]
        rows.append(
            ["BLEU of the development set", *(f"{v:.2f}" for v in grid_of_weights.values())]
        )
        lines += ["", grid(rows), "", f"`alignment_threshold={args.weight_threshold}`"]
    command = called("alignment_search.py")
    text = "\n".join([*lines, "", "```", command, "```", ""])
    content = {
        "problem": args.problem,
        "decode_hparams": args.decode_hparams,
        "alignment_weight": weight,
        "bleu_by_weight": {f"{key:g}": value for key, value in grid_of_weights.items()},
        "signature": signature,
        "points": [
            {**dataclasses.asdict(point), "speed_up": points[0].seconds / point.seconds}
            for point in points
        ],
    }
    write_report(work_dir, "figure3", text, content)
    plot(points).savefig(work_dir / "figure3.png")
    print(f"and {work_dir / 'figure3.png'}")


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = experiment_parser(__doc__ or "")
    parser.add_argument("--output_dir", required=True, help="run of the lexical model")
    parser.add_argument("--alignment_model_dir", required=True, help="run of the alignment model")
    parser.add_argument("--thresholds", default=THRESHOLDS, help="comma-separated, 0 first")
    parser.add_argument("--weights", default=WEIGHTS, help="values of alignment_weight to try")
    parser.add_argument("--weight_threshold", type=float, default=0.15)
    parser.add_argument("--dev_sentences", type=int, default=0, help="for the weight; 0: all")
    parser.add_argument("--test_sentences", type=int, default=0, help="use the first N; 0: all")
    parser.add_argument("--passes", type=int, default=3, help="timed passes")
    parser.add_argument("--decode_hparams", default="beam_size=5,batch_size=1024")
    return parser.parse_args(argv)


def main() -> int:
    args = parse()
    thresholds = [float(text) for text in args.thresholds.split(",")]
    if thresholds[0]:
        raise UserError(f"--thresholds={args.thresholds}: the first must be 0")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from t2t_phrase.io.text_files import read_text

    registry.discover()
    system = System.parse(f"{args.output_dir}+{args.alignment_model_dir}")
    data_dir = pathlib.Path(args.data_dir).expanduser()
    dev, test = (kept_text(args.problem, data_dir, split) for split in ("dev", "test"))
    work_dir = pathlib.Path(args.work_dir).expanduser()
    work_dir.mkdir(parents=True, exist_ok=True)
    weight, weights = choose_weight(system, dev, args, work_dir)
    sources, references = (
        read_text(str(path))[: args.test_sentences or None] for path in (test.source, test.target)
    )
    searches = translators(system, args, thresholds, weight)
    points, signature = measure(searches, thresholds, sources, references, args.passes)
    report(args, points, weight, weights, signature, len(sources))
    return 0


if __name__ == "__main__":
    run_script(main)
