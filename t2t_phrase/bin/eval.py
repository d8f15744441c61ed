"""t2t-phrase-eval: scores translations with sacreBLEU and prints the signatures.

    t2t-phrase-eval --translation=out.de --reference=test.de --metrics=bleu,chrf++,ter
    t2t-phrase-eval --translation=out.de --reference=test.de --source=test.en --by_length=15,30,45
    t2t-phrase-eval --translation=out.de --reference=test.de --ngrams=8 --baseline=other.de
    t2t-phrase-eval --translation=out.de --facts=data/translate_ende_grammar-test.facts
    t2t-phrase-eval --systems=base=a.de,phrases=b.de --reference=test.de --format=markdown
    t2t-phrase-eval --systems=base=a-1.de+a-2.de,phrases=b-1.de+b-2.de --reference=test.de
    t2t-phrase-eval --systems=base=a.de,phrases=b.de --reference=test.de --report=page.html
    t2t-phrase-eval --alignments=test.de.align --gold_alignments=gold.align

`--tokenize=intl` reproduces the cased score of t2t-bleu, and with `--lowercase` the uncased one;
`--tokenize=moses-de --lowercase` gives the score that papers on Multi30k report.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys
from collections.abc import Sequence

from absl import app, flags

from t2t_phrase import grammar
from t2t_phrase.bin import common
from t2t_phrase.bin.eval_systems import (
    check_system_flags,
    define_system_flags,
    refuse_system_flags,
    score_systems,
)
from t2t_phrase.bin.flag_parsing import own_flags, refuse_empty
from t2t_phrase.config import UserError, clipped
from t2t_phrase.evaluation import phenomena
from t2t_phrase.evaluation.alignment_error import score_files
from t2t_phrase.evaluation.by_length import BOUNDARIES, bleu_by_length, check_boundaries
from t2t_phrase.evaluation.comet import check_comet, comet_score
from t2t_phrase.evaluation.ngram_precision import LARGEST_ORDER, ngram_precisions
from t2t_phrase.evaluation.scores import METRICS, corpus_score, make_bleu, make_metric
from t2t_phrase.evaluation.significance import paired_bootstrap, resampling_seed
from t2t_phrase.io.files import refuse_inputs, write
from t2t_phrase.io.line_counts import check_one_to_one
from t2t_phrase.io.text_files import check_writable, read_text

FLAGS = flags.FLAGS
COMET = "comet"
_ALIGNMENTS = ("alignments", "gold_alignments")
_FILES = (
    *("translation", "reference", "baseline", "source", "facts", "plot", "training_text"),
    "contrasts",
    *_ALIGNMENTS,
)


def define_flags() -> None:
    """Define the command's flags."""
    define_system_flags()
    flags.DEFINE_string("translation", None, "Translations, one detokenised sentence per line.")
    flags.DEFINE_multi_string("reference", None, "References; repeat the flag for several.")
    flags.DEFINE_list(
        "metrics",
        ["bleu"],
        f"Comma-separated metrics: {', '.join(METRICS)}, comet (with --source and --comet_model).",
    )
    flags.DEFINE_string("comet_model", "", "The checkpoint of a COMET model, on disk.")
    flags.DEFINE_string(
        "tokenize",
        "13a",
        "sacreBLEU's tokenizer for BLEU; intl reproduces t2t-bleu, moses-de is Moses' for German.",
    )
    flags.DEFINE_bool("lowercase", False, "Ignore case.")
    flags.DEFINE_string(
        "baseline", None, "Translations of another system, for a paired bootstrap test."
    )
    flags.DEFINE_string("source", None, "Source sentences, to report BLEU by source length.")
    flags.DEFINE_list(
        "by_length",
        None,
        f"Boundaries of --source lengths in words; default: {','.join(map(str, BOUNDARIES))}.",
    )
    flags.DEFINE_integer(
        "ngrams",
        None,
        "Print the precision of n-grams of every order up to this one; 8 as in Hao et al. (2019).",
        lower_bound=1,
        upper_bound=LARGEST_ORDER,
    )
    flags.DEFINE_string(
        "plot",
        None,
        "PNG file for a plot of --ngrams: the difference from --baseline, or the precision.",
    )
    flags.DEFINE_string(
        "facts",
        None,
        "The .facts file of the grammar corpus, for accuracy on idioms, compounds and particle "
        "verbs.",
    )
    flags.DEFINE_string(
        "alignments",
        None,
        "Word alignments in Pharaoh format, to be scored against --gold_alignments.",
    )
    flags.DEFINE_string(
        "gold_alignments", None, "Gold alignments; 1?2 or 1p2 is a link that is only possible."
    )


def main(argv: Sequence[str]) -> None:
    """Print one line for each score, and one for each comparison."""
    del argv
    refuse_empty(*_FILES)
    if FLAGS.alignments or FLAGS.gold_alignments:
        score_alignments()
        return
    if FLAGS.systems is not None:
        check_system_flags()
        check_metrics(resampled=True)
        score_systems(boundaries())
        return
    refuse_system_flags()
    if not FLAGS.translation or not (FLAGS.reference or FLAGS.facts):
        raise app.UsageError("--translation and --reference (or --facts) are required")
    if FLAGS.source and not FLAGS.reference:
        raise app.UsageError("--source: BLEU by length requires --reference")
    if FLAGS.by_length is not None and not FLAGS.source:
        raise app.UsageError("--by_length requires --source")
    if FLAGS.ngrams is not None and not FLAGS.reference:
        raise app.UsageError("--ngrams requires --reference")
    if FLAGS.plot is not None:
        check_plot()
    for name in ("metrics", "tokenize", "lowercase", "comet_model"):
        if FLAGS[name].present and not FLAGS.reference:
            raise app.UsageError(f"--{name} requires --reference")
    if FLAGS.reference:
        check_metrics(resampled=bool(FLAGS.baseline))
        boundaries()
    note_same_files()
    hypotheses = read_text(FLAGS.translation)
    baseline = read_same_length(FLAGS.baseline, len(hypotheses)) if FLAGS.baseline else None
    facts = phenomena.read_facts(FLAGS.facts) if FLAGS.facts else []
    if FLAGS.facts:
        phenomena.check_lengths(hypotheses, facts)
    if FLAGS.reference:
        references = [read_same_length(path, len(hypotheses)) for path in FLAGS.reference]
        score(hypotheses, baseline, references)
        if FLAGS.ngrams is not None:
            count_ngrams(hypotheses, baseline, references)
    if FLAGS.facts:
        judge(hypotheses, baseline, facts)


def score_alignments() -> None:
    """Print the precision, recall and error rate of alignments.

    Raises:
        UsageError: a file is missing, or something else is to be scored, too.
    """
    if not (FLAGS.alignments and FLAGS.gold_alignments):
        raise app.UsageError("--alignments and --gold_alignments are required together")
    for flag in own_flags():
        if flag.present and flag.name not in _ALIGNMENTS:
            raise app.UsageError(
                f"--{flag.name} is for translations; score --alignments without it"
            )
    note_same_files()
    print(score_files(FLAGS.alignments, FLAGS.gold_alignments))


def check_metrics(*, resampled: bool) -> None:
    """Check that all scores can be computed, before the first is printed.

    Args:
        resampled: whether systems are compared on resampled test sets.

    Raises:
        UserError: a metric or the tokenizer is unknown or cannot be used, or there is no metric.
    """
    if not FLAGS.metrics:
        raise UserError(f"--metrics= names no metric; known: {', '.join(METRICS)}")
    for metric in FLAGS.metrics:
        if FLAGS.metrics.count(metric) > 1:
            raise UserError(f"--metrics={','.join(FLAGS.metrics)}: {metric} is given twice")
        if metric == COMET:
            check_comet_flags(resampled=resampled)
            continue
        make_metric(metric, tokenize=FLAGS.tokenize, lowercase=FLAGS.lowercase)
    if FLAGS["comet_model"].present and COMET not in FLAGS.metrics:
        raise UserError(f"--comet_model requires {COMET} in --metrics")
    if FLAGS.source or FLAGS.ngrams is not None:
        make_bleu(tokenize=FLAGS.tokenize, lowercase=FLAGS.lowercase)
    if resampled:
        resampling_seed()


def check_comet_flags(*, resampled: bool) -> None:
    """Check that COMET can be computed.

    Raises:
        UserError: something that COMET needs is missing, or systems are compared.
    """
    if resampled:
        raise UserError(
            f"metric {COMET!r} cannot be resampled by sacreBLEU; score one --translation without "
            "--baseline"
        )
    if not FLAGS.source:
        raise UserError(f"--metrics={COMET}: give --source, which COMET reads")
    if len(FLAGS.reference) > 1:
        raise UserError(f"--metrics={COMET}: COMET reads one --reference")
    check_comet(FLAGS.comet_model)


def check_plot() -> None:
    """Check that a plot can be drawn and written, before anything is read.

    Raises:
        UsageError: there is nothing to draw.
        UserError: the file cannot be written, is one of the inputs, or is not named as a PNG.
    """
    if FLAGS.ngrams is None:
        raise app.UsageError("--plot requires --ngrams, which it draws")
    suffix = pathlib.PurePath(FLAGS.plot).suffix
    if suffix.lower() not in ("", ".png"):
        raise UserError(f"--plot={FLAGS.plot}: plots are PNG files; write .png instead of {suffix}")
    inputs = (FLAGS.translation, *FLAGS.reference, FLAGS.baseline, FLAGS.source, FLAGS.facts)
    refuse_inputs(FLAGS.plot, filter(None, inputs))
    check_writable(FLAGS.plot)


def note_same_files() -> None:
    """Print a note on standard error if one file is given for two purposes."""
    named = [("translation", FLAGS.translation), ("baseline", FLAGS.baseline)]
    named += [("alignments", FLAGS.alignments), ("gold_alignments", FLAGS.gold_alignments)]
    named += [("reference", path) for path in FLAGS.reference or ()]
    known: dict[str, str] = {}
    for flag, path in named:
        if not path:
            continue
        place = os.path.realpath(os.path.expanduser(path))
        if place in known:
            print(f"note: --{known[place]} and --{flag} are both {path}", file=sys.stderr)
        known[place] = flag


def score(hypotheses: list[str], baseline: list[str] | None, references: list[list[str]]) -> None:
    """Print the corpus scores, those by length, and the comparison with the baseline."""
    options = {"tokenize": FLAGS.tokenize, "lowercase": FLAGS.lowercase}
    sources = read_same_length(FLAGS.source, len(hypotheses)) if FLAGS.source else []
    for metric in FLAGS.metrics:
        if metric == COMET:
            found = comet_score(sources, hypotheses, references[0], model=FLAGS.comet_model)
        else:
            found = corpus_score(metric, hypotheses, references, **options)
        print(found, flush=True)
        if found.parts:
            print(f"    {found.parts}", flush=True)
    if FLAGS.source:
        for system in (hypotheses, *([baseline] if baseline else [])):
            if system is baseline:
                print(f"By length, {FLAGS.baseline}")
            groups = bleu_by_length(system, references, sources, boundaries=boundaries(), **options)
            print(*groups, sep="\n", flush=True)
    if baseline:
        print(f"Compared with {FLAGS.baseline}, p by paired bootstrap")
        for comparison in paired_bootstrap(
            hypotheses, baseline, references, metrics=FLAGS.metrics, **options
        ):
            print(comparison, flush=True)


def count_ngrams(
    hypotheses: list[str], baseline: list[str] | None, references: list[list[str]]
) -> None:
    """Print the n-gram precisions, and write --plot."""
    found = ngram_precisions(
        hypotheses,
        references,
        orders=FLAGS.ngrams,
        baseline=baseline,
        tokenize=FLAGS.tokenize,
        lowercase=FLAGS.lowercase,
    )
    if found.compared:
        print(f"N-grams compared with {FLAGS.baseline}, p by paired bootstrap")
    print(found, flush=True)
    if FLAGS.plot:
        # Drawing takes longer to import than everything else.
        from t2t_phrase.evaluation.ngram_plot import ngram_plot
        from t2t_phrase.figure_files import picture_of

        write(FLAGS.plot, picture_of(ngram_plot(found)))


def boundaries() -> list[int]:
    """Return the numbers of --by_length.

    Raises:
        UserError: a value is not an integer, or the numbers are not ascending and positive.
    """
    if FLAGS.by_length is None:
        return list(BOUNDARIES)
    if not FLAGS.by_length or not all(re.fullmatch("-?[0-9]{1,9}", n) for n in FLAGS.by_length):
        raise UserError(
            f"--by_length={clipped(','.join(FLAGS.by_length))}: expected numbers of words, such as "
            "15,30,45"
        )
    found = [int(word) for word in FLAGS.by_length]
    check_boundaries(found)
    return found


def judge(
    hypotheses: list[str], baseline: list[str] | None, facts: list[list[grammar.Rendering]]
) -> None:
    """Print the accuracy on idioms, compounds and particle verbs."""
    judgements = phenomena.judge(hypotheses, facts)
    print(*phenomena.accuracies(judgements), sep="\n")
    if baseline:
        print(f"Compared with {FLAGS.baseline}, p by McNemar's exact test")
        print(*phenomena.compare(judgements, phenomena.judge(baseline, facts)), sep="\n")


def read_same_length(path: str, expected: int) -> list[str]:
    """Return the lines of a file.

    Raises:
        UserError: the number of lines differs from that of the translation.
    """
    lines = read_text(path)
    check_one_to_one(FLAGS.translation, expected, path, len(lines))
    return lines


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=False)


if __name__ == "__main__":
    run()
