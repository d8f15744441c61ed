"""The part of t2t-phrase-eval that compares several systems: a table, a page, files for papers."""

from __future__ import annotations

import os
from collections.abc import Sequence

from absl import app, flags

from t2t_phrase.config import UserError, clipped
from t2t_phrase.evaluation.systems import SystemScores, compare_systems
from t2t_phrase.evaluation.systems_by_seed import SystemsBySeed, compare_by_seed
from t2t_phrase.evaluation.table import FORMATS, format_table
from t2t_phrase.io.files import expanded
from t2t_phrase.io.reporting import note
from t2t_phrase.io.terminal import Screen
from t2t_phrase.io.text_files import read_text, stream_text
from t2t_phrase.io.text_job import check_paths

FLAGS = flags.FLAGS
# Flags for content of systems that only a page or files show; one translation has no use for these.
_ONLY_IN_REPORTS = ("contrasts", "training_text")
_IN_REPORTS = ("source", "by_length", "ngrams", "facts", *_ONLY_IN_REPORTS)


def define_system_flags() -> None:
    """Define the flags of comparisons."""
    flags.DEFINE_list(
        "systems",
        None,
        "NAME=FILE,NAME=FILE: translations of several systems, in one table with 95% confidence "
        "intervals and p against the first. NAME=FILE+FILE: of several seeds, whose mean is "
        "compared.",
    )
    flags.DEFINE_enum("format", "text", list(FORMATS), "How --systems are printed.")
    flags.DEFINE_string(
        "report",
        None,
        "HTML file for a page that compares --systems: by length with --source, by n-grams, "
        "--facts, --contrasts and --training_text, and sentence by sentence.",
    )
    flags.DEFINE_string(
        "report_files",
        None,
        "Folder for the same tables as JSON, CSV, LaTeX and Markdown, and the figures as PDF and "
        "PNG.",
    )
    flags.DEFINE_list(
        "contrasts",
        None,
        "NAME=FILE,NAME=FILE: for --report, what t2t-phrase-contrast wrote to --json_to_file for "
        "systems with these names.",
    )
    flags.DEFINE_string(
        "training_text",
        None,
        "Target side of the training corpus, for --report: F1 of words by how often they occur.",
    )


def check_system_flags() -> None:
    """Check that the flags fit together.

    Raises:
        UsageError: references are missing, or something else is to be scored, too.
        UserError: the page or a file in the folder is one of the inputs, or cannot be written.
    """
    reports = FLAGS.report is not None or FLAGS.report_files is not None
    others = ["translation", "baseline", "plot"]
    if not reports:
        others += _IN_REPORTS
    if given := [name for name in others if getattr(FLAGS, name) is not None]:
        name, way = given[0], "leave it out with --systems"
        if name in _ONLY_IN_REPORTS:
            raise app.UsageError(f"--{name} is for --report or --report_files; add one of them")
        if name in _IN_REPORTS:
            way += " or add --report"
        raise app.UsageError(f"--{name} is for one --translation; {way}")
    if not FLAGS.reference or not all(FLAGS.reference):
        raise app.UsageError("--systems requires --reference")
    if FLAGS.by_length is not None and not FLAGS.source:
        raise app.UsageError("--by_length requires --source")
    for flag in ("report", "report_files"):
        if FLAGS[flag].value == "":
            raise app.UsageError(f"--{flag}= names no file")
    by_seed = seeds_of_systems()
    if reports and (several := [name for name, paths in by_seed.items() if len(paths) > 1]):
        raise app.UsageError(
            f"--systems: {several[0]} has several files; a page compares one of each system"
        )
    systems = [path for paths in by_seed.values() for path in paths]
    named = [*systems, *FLAGS.reference, FLAGS.source, FLAGS.facts]
    named += [*named_files("contrasts").values(), FLAGS.training_text]
    inputs = [path for path in named if path]
    if FLAGS.report is not None:
        check_paths(FLAGS.report, inputs)
    if FLAGS.report_files is not None:
        from t2t_phrase.reports.comparison.files import make_folder, possible_files

        make_folder(FLAGS.report_files)
        for path in possible_files(FLAGS.report_files):
            check_paths(str(path), inputs)
            if FLAGS.report and expanded(FLAGS.report).resolve() == path.resolve():
                raise UserError(f"--report={FLAGS.report} is one of the --report_files, too")


def refuse_system_flags() -> None:
    """Refuse flags that are of no use for one translation.

    Raises:
        UsageError: such a flag is given.
    """
    if FLAGS.format != "text":
        raise app.UsageError("--format is for --systems")
    for name in ("report", "report_files", "contrasts", "training_text"):
        if FLAGS[name].value is not None:
            raise app.UsageError(f"--{name} is for --systems")


def score_systems(boundaries: Sequence[int]) -> None:
    """Print one table of several systems, and write the page and files that are asked for.

    Args:
        boundaries: boundaries of source lengths, in words.

    Raises:
        UserError: a system is not NAME=FILE, or the files differ in length.
    """
    paths = seeds_of_systems()
    if len(paths) < 2:
        raise UserError("--systems: give at least two; --translation scores one")
    texts = {path: read_text(path) for own in paths.values() for path in own}
    references = [read_text(path) for path in FLAGS.reference]
    counts = {path: len(lines) for path, lines in texts.items()}
    counts |= {path: len(lines) for path, lines in zip(FLAGS.reference, references, strict=True)}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{path} {count}" for path, count in counts.items())
        raise UserError(f"the files must have the same number of lines, but have: {listed}")
    found: SystemScores | SystemsBySeed
    options = {
        "metrics": FLAGS.metrics,
        "tokenize": FLAGS.tokenize,
        "lowercase": FLAGS.lowercase,
    }
    if any(len(own) > 1 for own in paths.values()):
        by_seed = {name: [texts[path] for path in own] for name, own in paths.items()}
        found = compare_by_seed(by_seed, references, **options)
    else:
        systems = {name: texts[path] for name, (path,) in paths.items()}
        if FLAGS.report is None and FLAGS.report_files is None:
            found = compare_systems(systems, references, **options)
        else:
            found = report(systems, references, boundaries)
    header, rows = found.table()
    print(format_table(header, rows, FLAGS.format, notes=found.notes()))


def report(
    systems: dict[str, list[str]], references: list[list[str]], boundaries: Sequence[int]
) -> SystemScores:
    """Write the page and the files, and return the scores."""
    from t2t_phrase.evaluation.by_frequency import word_counts
    from t2t_phrase.evaluation.ngram_precision import ORDERS
    from t2t_phrase.evaluation.phenomena import read_facts
    from t2t_phrase.reports.comparison.inputs import ComparisonInputs, read_contrasts
    from t2t_phrase.reports.comparison.write import write_comparison

    options = {"tokenize": FLAGS.tokenize, "lowercase": FLAGS.lowercase}
    counted: dict[str, int] | None = None
    if FLAGS.training_text:
        note(f"counting the words of {FLAGS.training_text}")
        counted = word_counts(stream_text(FLAGS.training_text, note=note), **options)
    given = ComparisonInputs(
        systems=systems,
        references=references,
        sources=read_text(FLAGS.source) if FLAGS.source else None,
        boundaries=boundaries,
        orders=ORDERS if FLAGS.ngrams is None else FLAGS.ngrams,
        facts=read_facts(FLAGS.facts) if FLAGS.facts else None,
        contrasts={n: read_contrasts(path) for n, path in named_files("contrasts").items()},
        word_counts=counted,
        metrics=FLAGS.metrics,
        **options,
    )
    screen = Screen("stderr")
    found = write_comparison(given, page=FLAGS.report, folder=FLAGS.report_files, log=screen)
    screen.close()
    return found.scores


def seeds_of_systems() -> dict[str, list[str]]:
    """Return the files of each system's seeds, by the name of the system.

    Raises:
        UserError: as for `named_files`, or a file of a system is given twice.
    """
    found = {}
    for name, path in named_files("systems").items():
        # A plus sign may also be part of a name.
        found[name] = [path] if os.path.exists(os.path.expanduser(path)) else path.split("+")
        if "" in found[name]:
            raise UserError(f"--systems: expected {name}=FILE+FILE, got {clipped(path)!r}")
        if len(set(found[name])) < len(found[name]):
            raise UserError(f"--systems: {name}={clipped(path)}: a file is given twice")
    return found


def named_files(flag: str) -> dict[str, str]:
    """Return the files that a flag lists, by the names of their systems.

    Raises:
        UserError: a part is not NAME=FILE, or a name is given twice.
    """
    found: dict[str, str] = {}
    for part in FLAGS[flag].value or ():
        name, _, path = part.partition("=")
        if not (name and path):
            raise UserError(f"--{flag}: expected NAME=FILE, got {clipped(part)!r}")
        if name in found:
            raise UserError(f"--{flag}: {name} is given twice")
        found[name] = path
    return found
