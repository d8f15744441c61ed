"""t2t-phrase-parse: writes constituency trees of a text, made by an installed parser.

t2t-phrase-parse --input_file=train.en --output_file=train.en.trees
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase.bin import common
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.bin.source_features import check_parser_flags, define_parser_flags
from t2t_phrase.features import PHRASES
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.reporting import Ticker, note
from t2t_phrase.io.resumable import Result
from t2t_phrase.text.trees.flat_tree_notes import FlatTreeNotes

if TYPE_CHECKING:
    from t2t_phrase.io.line_windows import Window
    from t2t_phrase.io.resumable import Work
    from t2t_phrase.text.trees.parser import Parser

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_string("input_file", None, "Text with one sentence per line.")
    flags.DEFINE_string(
        "output_file",
        None,
        "File for the trees; default: the name of the input with `.trees` appended. Finished work "
        "is kept under the same name with .part appended, and the same command continues from "
        "there.",
    )
    flags.DEFINE_string(
        "trees_file",
        None,
        "Existing trees, to be checked or, with --phrases, turned into phrases.",
    )
    flags.DEFINE_bool(
        "phrases", False, "Write sentences with tabs between their phrases instead of trees."
    )
    define_parser_flags()


def main(argv: Sequence[str]) -> None:
    """Write trees or phrases, or check trees."""
    del argv
    from t2t_phrase.io import text_job
    from t2t_phrase.io.text_files import count_lines

    refuse_empty("output_file", "trees_file")
    source, trees = FLAGS.input_file, FLAGS.trees_file
    if not source:
        raise app.UsageError("--input_file is required")
    if bool(FLAGS.parser) == bool(trees):
        raise app.UsageError("give either --parser=stanza|corenlp or --trees_file")
    check_parser_flags()
    if trees and not FLAGS.phrases:
        if FLAGS.output_file:
            raise app.UsageError(
                "--trees_file alone is only checked; add --phrases, or leave out --output_file"
            )
        check_trees(source, trees)
        return
    suffix = "phrases" if FLAGS.phrases else "trees"
    target = FLAGS.output_file or f"{source.removesuffix('.gz')}.{suffix}"
    beside = [trees] if trees else []
    text_job.check_paths(target, [source, *beside])
    total = count_lines(source)
    text_job.check_counts(source, total, beside)
    outcome = text_job.do(
        cut_given_trees(trees) if trees else Parsing(),
        source=source,
        target=target,
        beside=beside,
        settings={
            "task": suffix,
            "parser": FLAGS.parser,
            "language": FLAGS.language if FLAGS.parser == "stanza" else None,
        },
        ticker=Ticker("parsed", total),
    )
    note(f"{counted(outcome.lines, 'sentence')}: {suffix} written to {target}")


def check_trees(source: str, trees: str) -> None:
    """Check that every line has a tree that spells it.

    Raises:
        UserError: a tree is malformed or does not spell its line, or the numbers of trees and
            lines differ.
    """
    from t2t_phrase.io.line_windows import windows
    from t2t_phrase.io.text_files import count_lines, stream_text
    from t2t_phrase.io.text_job import check_counts
    from t2t_phrase.text.annotations.base import read_annotations

    check_counts(source, count_lines(source), [trees])
    count = 0
    for window in windows(stream_text(source), {trees: stream_text(trees)}):
        read_annotations(PHRASES, window.lines, window.beside[trees], trees, first=window.first)
        count += len(window.lines)
    note(f"{trees}: {counted(count, 'tree')}, all of which match their sentences")


def cut_given_trees(trees: str) -> Work:
    """Return the work of turning the trees of a file into sentences with tabs between phrases."""
    from t2t_phrase.text.annotations.base import read_annotations

    def work(window: Window, done: set[int], number: int) -> Iterator[Result]:
        del number
        texts = read_annotations(
            PHRASES, window.lines, window.beside[trees], trees, first=window.first
        )
        rows = [row for row in range(len(texts)) if row not in done]
        yield Result(rows, [texts[row] for row in rows])

    return work


class Parsing:
    """The work of parsing lines, as many at once as a parser takes; failures are reported."""

    def __init__(self) -> None:
        self._parser: Parser | None = None
        self._report = FlatTreeNotes()

    def __call__(self, window: Window, done: set[int], number: int) -> Iterator[Result]:
        """Parse the remaining lines of a window."""
        del number
        from t2t_phrase.text.trees import parsers

        if self._parser is None:
            self._parser = parsers.open_parser(
                FLAGS.parser, language=FLAGS.language, corenlp_url=FLAGS.corenlp_url
            )
        left = iter(row for row in range(len(window.lines)) if row not in done)
        while rows := list(itertools.islice(left, parsers.BATCH)):
            lines = [window.lines[row] for row in rows]
            found = list(parsers.parse_lines(self._parser, lines))
            for row, (_, fault) in zip(rows, found, strict=True):
                if fault:
                    where = f"{FLAGS.input_file}:{window.first + row + 1}"
                    self._report(f"{where}: {fault}; a flat tree is written instead")
            yield Result(rows, self._written(lines, [tree for tree, _ in found]))

    def _written(self, lines: list[str], trees: list[str]) -> list[str]:
        from t2t_phrase.text.annotations.base import read_annotations

        return read_annotations(PHRASES, lines, trees, "parser") if FLAGS.phrases else trees


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=False)


if __name__ == "__main__":
    run()
