"""Compares an ensemble with its members, by paired bootstrap against the best member.

    python benchmarks/ensemble.py --output_dir=runs/a,runs/b,runs/c --data_dir=data \\
        --work_dir=runs/ensemble [--ensemble_weights=2,1,1] [--test_sentences=5000]

Translates the test set with each member and with all together (t2t-phrase-decoder
--output_dir=a,b,c, see docs/rnn.md). For data of the grammar, the test set may have any size
(--test_sentences). Each step is a command, printed before it runs; finished steps are not repeated.
The results are written to WORK_DIR/ensemble.md and ensemble.json: BLEU, the difference from the
best member, and p.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
from collections.abc import Mapping, Sequence

from experiment import called, experiment_parser
from script import run_script
from trained_runs import distinct_names, file_stem, newest, problem_of

from t2t_phrase import registry
from t2t_phrase.comparison import steps
from t2t_phrase.comparison.report import write_report
from t2t_phrase.comparison.sentences import Sentences, sentences_of
from t2t_phrase.comparison.steps import command_line
from t2t_phrase.comparison.table import grid
from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints

# No folder has this name.
ENSEMBLE = "ensemble of all"


@dataclasses.dataclass(frozen=True)
class Row:
    """The measurements of a member, or of the ensemble.

    Attributes:
        p_value: of the difference from the best member; None for that member.
    """

    name: str
    parameters: int
    bleu: float
    difference: float
    p_value: float | None


def translate(
    args: argparse.Namespace, folders: Sequence[pathlib.Path], test: Sentences, made: pathlib.Path
) -> str:
    """Translate the test set with some runs, unless it is done already; return the command."""
    data_dir = pathlib.Path(args.data_dir).expanduser()
    flags = [f"--output_dir={','.join(map(str, folders))}", f"--data_dir={data_dir}"]
    if args.ensemble_weights and len(folders) > 1:
        flags.append(f"--ensemble_weights={args.ensemble_weights}")
    flags += [
        f"--decode_hparams={args.decode_hparams}",
        f"--decode_from_file={test.source}",
        f"--decode_to_file={made}",
    ]
    log = made.with_name(f"{made.name}.log")
    sources = [newest(folders), test.source]
    steps.make("decoder", flags, made=made, sources=sources, log=log)
    return command_line("decoder", flags)


def compare(
    texts: Mapping[str, Sequence[str]],
    references: Sequence[Sequence[str]],
    parameters: Mapping[str, int],
) -> tuple[list[Row], str]:
    """Score the translations of members and ensemble.

    Args:
        texts: translations by name of the member, or ENSEMBLE.
        references: one list of sentences for each reference.
        parameters: by name of the member.

    Returns:
        (rows in the order of the texts, the signature of BLEU).
    """
    from t2t_phrase.evaluation.bleu import corpus_bleu
    from t2t_phrase.evaluation.significance import paired_bootstrap

    scores = {name: corpus_bleu(text, references) for name, text in texts.items()}
    best = max(parameters, key=lambda name: scores[name].value)
    rows = [
        Row(
            name,
            parameters.get(name, sum(parameters.values())),
            scores[name].value,
            scores[name].value - scores[best].value,
            None if name == best else paired_bootstrap(text, texts[best], references)[0].p_value,
        )
        for name, text in texts.items()
    ]
    return rows, scores[best].signature


def markdown(rows: Sequence[Row]) -> str:
    """Return the rows as a table."""
    lines = [["system", "parameters", "BLEU", "difference", "p"]]
    for row in rows:
        cells = [row.name if row.name == ENSEMBLE else f"`{row.name}`"]
        cells += [f"{row.parameters / 1e6:.2f}M", f"{row.bleu:.2f}"]
        best = row.p_value is None
        lines.append(
            [*cells, *(["", "best"] if best else [f"{row.difference:+.2f}", f"{row.p_value:.3f}"])]
        )
    return grid(lines)


def report(
    work_dir: pathlib.Path, rows: Sequence[Row], notes: Sequence[str], commands: Sequence[str]
) -> None:
    """Print and write the table."""
    lines = [markdown(rows), "", *notes, "", "```", called("ensemble.py"), *commands, "```", ""]
    content = {
        "notes": list(notes),
        "commands": list(commands),
        "rows": [dataclasses.asdict(row) for row in rows],
    }
    write_report(work_dir, "ensemble", "\n".join(lines), content)


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = experiment_parser(__doc__ or "", trains=False)
    parser.add_argument("--output_dir", required=True, help="comma-separated runs")
    parser.add_argument("--ensemble_weights", default="", help="as for t2t-phrase-decoder")
    parser.add_argument("--decode_hparams", default="beam_size=5")
    parser.add_argument(
        "--test_sentences", type=int, default=5000, help="size of the grammar's test set"
    )
    return parser.parse_args(argv)


def main() -> int:
    """Make the table; return the exit status."""
    from t2t_phrase.data.problem import get_problem
    from t2t_phrase.io.text_files import read_text

    args = parse()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    registry.discover()
    folders = [pathlib.Path(part).expanduser() for part in args.output_dir.split(",")]
    if len(folders) < 2:
        raise UserError(f"--output_dir={args.output_dir}: give at least two runs")
    members = dict(zip(distinct_names(folders), folders, strict=True))
    problem = get_problem(problem_of(folders))
    work_dir = pathlib.Path(args.work_dir).expanduser()
    work_dir.mkdir(parents=True, exist_ok=True)
    test = sentences_of(
        problem,
        data_dir=pathlib.Path(args.data_dir).expanduser(),
        work_dir=work_dir,
        size=args.test_sentences,
    )
    # The ensemble comes first: runs that do not fit together are refused before long work.
    groups = {ENSEMBLE: folders, **{name: [folder] for name, folder in members.items()}}
    made = {name: work_dir / f"{file_stem(name)}.test.{problem.target_language}" for name in groups}
    commands = [translate(args, own, test, made[name]) for name, own in groups.items()]
    texts = {name: read_text(str(made[name])) for name in [*members, ENSEMBLE]}
    parameters = {name: checkpoints.count_weights(folder) for name, folder in members.items()}
    rows, signature = compare(texts, test.references, parameters)
    notes = [
        f"`{problem.base_name}`, {test.description}; BLEU `{signature}`; `{args.decode_hparams}`.",
        "difference and p: from the best member on this test set, by paired bootstrap.",
    ]
    report(work_dir, rows, notes, commands)
    return 0


if __name__ == "__main__":
    run_script(main)
