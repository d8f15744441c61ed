"""Alignment error rate by kind of attention: Table 6 of Luong et al. (2015).

    python benchmarks/attention_alignments.py --data_dir=data --work_dir=runs/table6 \\
        --systems=runs/global,runs/local,runs/global:runs/local,runs/lexical+runs/alignment \\
        [--split=dev] [--alignments=data/translate_ende_grammar-dev.de.align]

A system is RUN; RUN:RUN:... for an ensemble; or RUN+ALIGNMENT_RUN, whose links are those of the
search with an alignment model. Each is forced to the references of --split, and its links
(write_alignments=true, see docs/alignments.md) are compared with the gold links that
t2t-phrase-datagen has kept, or with --gold_alignments. Links in other files (--alignments), such as
those of t2t-phrase-align, are scored as well. Finished steps are not repeated. The results are
written to WORK_DIR/table6.md and table6.json: AER, precision, recall, the share of links to the
neighbour of a right word, the number of links, and the commands.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import sys

from alignment_steps import System, Text, kept_text
from experiment import called, experiment_parser
from forced_links import forced_links
from script import run_script
from trained_runs import distinct_names, file_stem, problem_of

from t2t_phrase import registry
from t2t_phrase.comparison.report import write_report
from t2t_phrase.comparison.steps import command_line
from t2t_phrase.comparison.table import grid
from t2t_phrase.config import UserError
from t2t_phrase.evaluation.alignment_error import AlignmentError, score_files


@dataclasses.dataclass(frozen=True)
class Row:
    """The measurements of a system, or of a file of links.

    Attributes:
        name: its name in the table.
        attention: of each member, see `attention_of`; empty for a file.
        error: counts of its links.
        command: the one that made the links; empty for a file.
    """

    name: str
    attention: str
    error: AlignmentError
    command: str = ""


def attention_of(folder: pathlib.Path) -> str:
    """Return the model of a run, and the kind of its attention to the source."""
    from t2t_phrase.models.luong_hparams import LuongHParams
    from t2t_phrase.runs.record import RunRecord

    record = RunRecord.load(folder)
    hparams = record.resolved()
    if isinstance(hparams, LuongHParams):
        return f"{record.model}, {hparams.attention} ({hparams.attention_score})"
    # Models without this hyperparameter attend to the source with plain heads.
    kind = getattr(hparams, "cross_attention", "none")
    return record.model if kind == "none" else f"{record.model}, {kind}"


def system_names(systems: list[System]) -> list[str]:
    """Return a unique name for each system.

    Raises:
        UserError: two systems are the same.
    """
    folders = list(dict.fromkeys(folder for system in systems for folder in system.inputs))
    short = dict(zip(folders, distinct_names(folders), strict=True))
    names = []
    for system in systems:
        name = ":".join(short[folder] for folder in system.models)
        names.append(name + (f"+{short[system.alignment]}" if system.alignment else ""))
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"--systems: {name} is given twice; give it once")
    return names


def markdown(rows: list[Row]) -> str:
    """Return the rows as a table."""
    head = ["system", "attention", "AER", "precision", "recall", "one left", "one right", "links"]
    lines = [head]
    for row in rows:
        error = row.error
        beside = (count / max(error.links, 1) for count in (error.one_left, error.one_right))
        scores = (error.error_rate, error.precision, error.recall, *beside)
        figures = [f"{100 * score:.2f}" for score in scores]
        lines.append([f"`{row.name}`", row.attention, *figures, str(error.links)])
    return grid(lines)


def report(work_dir: pathlib.Path, notes: list[str], rows: list[Row]) -> None:
    """Print and write the table."""
    commands = [row.command for row in rows if row.command]
    text = [markdown(rows), "", *notes, "", "```", called("attention_alignments.py"), *commands]
    content = {
        "notes": notes,
        "rows": [
            {
                "system": row.name,
                "attention": row.attention,
                "error_rate": row.error.error_rate,
                "precision": row.error.precision,
                "recall": row.error.recall,
                **dataclasses.asdict(row.error),
                "command": row.command,
            }
            for row in rows
        ],
    }
    write_report(work_dir, "table6", "\n".join([*text, "```", ""]), content)


def measured(
    system: System, name: str, text: Text, gold: pathlib.Path, args: argparse.Namespace
) -> Row:
    """Return the row of a system that is forced to the references."""
    links, flags = forced_links(
        system,
        text,
        data_dir=pathlib.Path(args.data_dir).expanduser(),
        work_dir=pathlib.Path(args.work_dir).expanduser(),
        stem=file_stem(name),
        options=[args.decode_hparams, args.search_hparams if system.alignment else ""],
    )
    attention = "; ".join(dict.fromkeys(attention_of(folder) for folder in system.models))
    command = command_line("decoder", flags)
    return Row(name, attention, score_files(str(links), str(gold)), command)


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = experiment_parser(__doc__ or "", trains=False)
    parser.add_argument("--systems", required=True, help="comma-separated")
    parser.add_argument("--split", default="dev", choices=["dev", "test"])
    parser.add_argument("--gold_alignments", default="", help="in Pharaoh format")
    parser.add_argument("--alignments", default="", help="comma-separated files to score as well")
    parser.add_argument("--decode_hparams", default="", help="such as alignment_layers=[1]")
    parser.add_argument("--search_hparams", default="beam_size=5", help="with an alignment model")
    return parser.parse_args(argv)


def main() -> int:
    """Make the table; return the exit status."""
    args = parse()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    registry.discover()
    systems = [System.parse(text) for text in args.systems.split(",")]
    names = system_names(systems)
    problem = problem_of(folder for system in systems for folder in system.inputs)
    text = kept_text(problem, pathlib.Path(args.data_dir).expanduser(), args.split)
    gold = pathlib.Path(args.gold_alignments).expanduser() if args.gold_alignments else None
    gold = gold or text.alignments
    if not gold.is_file():
        raise UserError(f"{gold} does not exist; give --gold_alignments for {text.target}")
    work_dir = pathlib.Path(args.work_dir).expanduser()
    work_dir.mkdir(parents=True, exist_ok=True)
    files = [
        Row(pathlib.Path(path).name, "", score_files(path, str(gold)))
        for path in filter(None, args.alignments.split(","))
    ]
    notes = [
        f"`{problem}`, {args.split}: links made for given references, compared with `{gold.name}`; "
        f"`{args.decode_hparams or 'no options'}`, with an alignment model also "
        f"`{args.search_hparams}`."
    ]
    rows: list[Row] = []
    failed = []
    for system, name in zip(systems, names, strict=True):
        try:
            rows.append(measured(system, name, text, gold, args))
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            failed.append(name)
        else:
            report(work_dir, notes, rows + files)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    run_script(main)
