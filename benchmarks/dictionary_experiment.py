"""Table 3 of Alkhouli et al. (2018): translations with and without a simulated dictionary.

    python benchmarks/dictionary_experiment.py --problem=translate_ende_grammar --data_dir=data \\
        --work_dir=runs/table3 --gold_alignments=data/translate_ende_grammar-dev.target.align \\
        --systems=runs/plain-averaged,runs/lexical-averaged+runs/alignment-averaged

A system is RUN, RUN+ALIGNMENT_RUN, or RUN:RUN:... for an ensemble. For each, the development set
(--split) is translated, a dictionary is made of words that the translation lacks
(t2t-phrase-dictionary, see docs/dictionaries.md), and the set is translated again with it. Each
step is one of the commands, printed before it runs; finished steps are not repeated. The results
are written to WORK_DIR/table3.md and table3.json: case-insensitive BLEU and TER of both
translations, and the numbers of entries, of occurrences and of those applied. With --require, the
set is also translated with --dictionary_mode=require.

The text needs word alignments: --alignments, by default those that datagen has kept
(data/PROBLEM-dev.target.align); alignment_quality.py shows how to make them for Multi30k. With
--gold_alignments, the links that a system makes when it is forced to the references are compared
with the gold links; with an alignment model, they are the links of its search.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import sys
from collections.abc import Sequence

from alignment_steps import System, Text, kept_text, reported
from experiment import called, experiment_parser
from forced_links import forced_links
from script import run_script
from trained_runs import newest

from t2t_phrase import registry
from t2t_phrase.comparison import steps
from t2t_phrase.comparison.report import write_report
from t2t_phrase.comparison.table import grid
from t2t_phrase.config import UserError

SUMMARY = r"(\d+) dictionary entr\S+: (\d+) occurrences? in the sources, (\d+) of them applied"


@dataclasses.dataclass(frozen=True)
class Required:
    """The measurements of a translation that must contain all entries.

    Attributes:
        bleu, ter: of the translation.
        p_value: of the difference in BLEU from the plain translation.
        applied: occurrences in the translations.
    """

    bleu: float
    ter: float
    p_value: float | None
    applied: int


@dataclasses.dataclass(frozen=True)
class Row:
    """The measurements of a system.

    Attributes:
        bleu, ter: of the plain translation.
        guided_bleu, guided_ter: of the translation with the dictionary.
        p_value: of the difference in BLEU.
        entries: of the dictionary.
        matched, applied: occurrences in the sources, and in the translations.
        error_rate: of the links, in per cent; None: not measured.
        required: the translation that contains all entries; None: not made.
    """

    system: str
    bleu: float
    guided_bleu: float
    ter: float
    guided_ter: float
    p_value: float | None
    entries: int
    matched: int
    applied: int
    error_rate: float | None
    required: Required | None = None


@dataclasses.dataclass(frozen=True)
class Experiment:
    """The settings that all systems share.

    Attributes:
        text: the text to translate; the dictionaries are made with its alignments.
        data_dir: folder of the data.
        work_dir: folder for all output.
        decode_hparams: options of decoding.
        search_hparams: further options with an alignment model.
        gold: file of gold links; empty: none.
        require: whether to translate with all entries required as well.
    """

    text: Text
    data_dir: pathlib.Path
    work_dir: pathlib.Path
    decode_hparams: str
    search_hparams: str
    gold: str = ""
    require: bool = False

    def place(self, system: System, ending: str) -> pathlib.Path:
        """Return a file of a system."""
        return self.work_dir / f"{system.name}.{ending}"

    def finish(self, system: System) -> Row:
        """Run all steps of a system."""
        target = self.text.target.suffix.removeprefix(".")
        inputs = [newest(system.inputs), self.text.source]
        plain = self.translate(system, f"plain.{target}", inputs)
        entries = self.place(system, "dictionary")
        flags = [f"--source={self.text.source}", f"--reference={self.text.target}"]
        flags += [f"--alignments={self.text.alignments}", f"--translation={plain}"]
        log = self.place(system, "dictionary.log")
        steps.make(
            "dictionary",
            [*flags, f"--output_file={entries}"],
            made=entries,
            sources=[plain, self.text.target, self.text.alignments],
            log=log,
        )
        guided = self.translate(
            system, f"guided.{target}", [entries], f"--sentence_dictionary={entries}"
        )
        row = self.row(system, plain, guided)
        if not self.require:
            return row
        flags = [f"--sentence_dictionary={entries}", "--dictionary_mode=require"]
        required = self.translate(system, f"required.{target}", [entries], *flags)
        return dataclasses.replace(row, required=self.of_required(plain, required))

    def of_required(self, plain: pathlib.Path, required: pathlib.Path) -> Required:
        """Return the measurements of a translation that contains all entries."""
        from t2t_phrase.evaluation.scores import corpus_score
        from t2t_phrase.evaluation.significance import paired_bootstrap
        from t2t_phrase.io.text_files import read_text

        before, after, references = (
            read_text(str(path)) for path in (plain, required, self.text.target)
        )
        bleu, ter = (
            corpus_score(metric, after, references, lowercase=True).value
            for metric in ("bleu", "ter")
        )
        compared = paired_bootstrap(after, before, references, lowercase=True)[0]
        found = reported(required.with_name(f"{required.name}.log"), SUMMARY)
        assert found, "the decoder printed no summary of the entries"
        return Required(bleu, ter, compared.p_value, int(found[2]))

    def translate(
        self, system: System, ending: str, sources: Sequence[pathlib.Path], *flags: str
    ) -> pathlib.Path:
        """Translate the text, unless the file is there and newer than `sources`; return it."""
        made = self.place(system, ending)
        options = [self.decode_hparams, self.search_hparams if system.alignment else ""]
        flags = (*system.flags, f"--data_dir={self.data_dir}", *flags)
        flags += (f"--decode_hparams={','.join(filter(None, options))}",)
        flags += (f"--decode_from_file={self.text.source}", f"--decode_to_file={made}")
        log = made.with_name(f"{made.name}.log")
        steps.make("decoder", list(flags), made=made, sources=sources, log=log)
        return made

    def error_rate(self, system: System) -> float | None:
        """Return the alignment error rate of a system that is forced to the references.

        In per cent; None: there are no gold links.
        """
        from t2t_phrase.evaluation.alignment_error import score_files

        if not self.gold:
            return None
        links, _ = forced_links(
            system,
            self.text,
            data_dir=self.data_dir,
            work_dir=self.work_dir,
            stem=system.name,
            options=[self.decode_hparams, self.search_hparams] if system.alignment else [],
        )
        return 100 * score_files(str(links), self.gold).error_rate

    def row(self, system: System, plain: pathlib.Path, guided: pathlib.Path) -> Row:
        """Return the row of a system whose translations exist."""
        from t2t_phrase.evaluation.scores import corpus_score
        from t2t_phrase.evaluation.significance import paired_bootstrap
        from t2t_phrase.io.text_files import read_text

        paths = (plain, guided, self.text.target)
        before, after, references = (read_text(str(path)) for path in paths)
        scores = {
            (metric, text is after): corpus_score(metric, text, references, lowercase=True).value
            for metric in ("bleu", "ter")
            for text in (before, after)
        }
        compared = paired_bootstrap(after, before, references, lowercase=True)[0]
        found = reported(guided.with_name(f"{guided.name}.log"), SUMMARY)
        assert found, "the decoder printed no summary of the entries"
        entries, matched, applied = map(int, found)
        return Row(
            system.name,
            scores["bleu", False],
            scores["bleu", True],
            scores["ter", False],
            scores["ter", True],
            compared.p_value,
            entries,
            matched,
            applied,
            self.error_rate(system),
        )


def markdown(rows: list[Row]) -> str:
    """Return the rows as a table."""
    titles = ["system", "BLEU", "with entries", "difference", "p", "TER", "with entries"]
    titles += ["difference", "entries", "matched", "applied", "AER"]
    required = any(row.required for row in rows)
    if required:
        titles += ["BLEU, all required", "p", "TER", "applied"]
    lines = [titles]
    for row in rows:
        share = _share(row.applied, row.matched)
        lines.append(
            [
                f"`{row.system}`",
                f"{row.bleu:.2f}",
                f"{row.guided_bleu:.2f}",
                f"{row.guided_bleu - row.bleu:+.2f}",
                _p_text(row.p_value),
                f"{row.ter:.2f}",
                f"{row.guided_ter:.2f}",
                f"{row.guided_ter - row.ter:+.2f}",
                str(row.entries),
                str(row.matched),
                f"{row.applied}{share}",
                "" if row.error_rate is None else f"{row.error_rate:.2f}",
            ]
        )
        if required:
            lines[-1] += _required(row)
    return grid(lines)


def _required(row: Row) -> list[str]:
    own = row.required
    if own is None:
        return [""] * 4
    applied = f"{own.applied}{_share(own.applied, row.matched)}"
    return [f"{own.bleu:.2f}", _p_text(own.p_value), f"{own.ter:.2f}", applied]


def _p_text(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _share(applied: int, matched: int) -> str:
    return f" ({applied / matched:.0%})" if matched else ""


def report(args: argparse.Namespace, experiment: Experiment, rows: list[Row]) -> None:
    """Print and write the table."""
    from t2t_phrase.evaluation.scores import make_metric

    signatures = []
    for metric in ("bleu", "ter"):
        scorer = make_metric(metric, tokenize="13a", lowercase=True)
        scorer.corpus_score(["a"], [["a"]])
        signatures.append(str(scorer.get_signature()))
    notes = [
        f"`{args.problem}`, {args.split}; BLEU `{signatures[0]}`, TER `{signatures[1]}`; "
        f"`{experiment.decode_hparams}`, with an alignment model also "
        f"`{experiment.search_hparams}`; entries from `{experiment.text.alignments.name}`; "
        "p: of the difference in BLEU, by paired bootstrap.",
    ]
    if experiment.gold:
        gold = pathlib.Path(experiment.gold).name
        notes.append(f"AER: of the links made for given references, by `{gold}`.")
    command = called("dictionary_experiment.py")
    text = "\n".join([markdown(rows), "", *notes, "", "```", command, "```", ""])
    content = {
        "problem": args.problem,
        "split": args.split,
        "decode_hparams": experiment.decode_hparams,
        "search_hparams": experiment.search_hparams,
        "signatures": signatures,
        "rows": [dataclasses.asdict(row) for row in rows],
    }
    work_dir = experiment.work_dir
    write_report(work_dir, "table3", text, content)


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = experiment_parser(__doc__ or "")
    parser.add_argument("--systems", required=True, help="comma-separated")
    parser.add_argument("--split", default="dev", choices=["dev", "test"])
    parser.add_argument("--alignments", default="", help="of the text, in Pharaoh format")
    parser.add_argument("--gold_alignments", default="", help="likewise, for AER")
    parser.add_argument("--require", action="store_true", help="also require all entries")
    parser.add_argument("--decode_hparams", default="beam_size=5")
    parser.add_argument("--search_hparams", default="alignment_threshold=0.15,alignment_weight=1.0")
    return parser.parse_args(argv)


def main() -> int:
    args = parse()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    registry.discover()
    systems = [System.parse(text) for text in args.systems.split(",")]
    names = [system.name for system in systems]
    if len({*names}) < len(names):
        raise UserError(f"--systems={args.systems}: two folders have the same name; rename one")
    data_dir = pathlib.Path(args.data_dir).expanduser()
    text = kept_text(args.problem, data_dir, args.split)
    if args.alignments:
        text = dataclasses.replace(text, alignments=pathlib.Path(args.alignments).expanduser())
    for path in filter(None, (str(text.alignments), args.gold_alignments)):
        if not pathlib.Path(path).expanduser().is_file():
            raise UserError(f"{path} does not exist; give alignments for {text.target}")
    work_dir = pathlib.Path(args.work_dir).expanduser()
    work_dir.mkdir(parents=True, exist_ok=True)
    experiment = Experiment(
        text,
        data_dir,
        work_dir,
        args.decode_hparams,
        args.search_hparams,
        os.path.expanduser(args.gold_alignments),
        args.require,
    )
    rows, failed = [], []
    for system in systems:
        try:
            rows.append(experiment.finish(system))
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            failed.append(system.name)
        else:
            report(args, experiment, rows)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    run_script(main)
