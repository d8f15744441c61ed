"""t2t-phrase-parse: writes constituency trees of a text, made by an installed parser."""

from __future__ import annotations

import itertools
import os
import pathlib
from collections.abc import Iterator, Sequence

from absl import app, flags

from t2t_phrase.bin import common
from t2t_phrase.bin.decoder import Ticker, note
from t2t_phrase.bin.source_features import define_parser_flags
from t2t_phrase.config import UserError
from t2t_phrase.features import PHRASES

FLAGS = flags.FLAGS
# Failures reported with their lines; others are only counted.
LISTED = 10


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_string("input_file", None, "Text with one sentence per line.")
    flags.DEFINE_string(
        "output_file",
        None,
        "File for the trees; default: the name of the input with `.trees` appended.",
    )
    flags.DEFINE_string(
        "trees_file",
        None,
        "Existing trees, which are checked, or with --phrases turned into phrases.",
    )
    flags.DEFINE_bool(
        "phrases", False, "Write sentences with tabs between their phrases instead of trees."
    )
    define_parser_flags()


def main(argv: Sequence[str]) -> None:
    """Write trees or phrases, or check trees."""
    del argv
    from t2t_phrase.evaluation.text_files import check_writable, read_text, write_text
    from t2t_phrase.text.annotations.base import read_annotations

    if not FLAGS.input_file:
        raise app.UsageError("--input_file is required")
    if bool(FLAGS.parser) == bool(FLAGS.trees_file):
        raise app.UsageError("give either --parser=stanza|corenlp or --trees_file")
    if FLAGS.trees_file and not FLAGS.phrases:
        lines = read_text(FLAGS.input_file)
        read_annotations(PHRASES, lines, read_text(FLAGS.trees_file), FLAGS.trees_file)
        note(f"{FLAGS.trees_file}: {len(lines)} trees, all of which match their sentences")
        return
    suffix = "phrases" if FLAGS.phrases else "trees"
    output = FLAGS.output_file or f"{FLAGS.input_file.removesuffix('.gz')}.{suffix}"
    if pathlib.Path(output).resolve() == pathlib.Path(FLAGS.input_file).resolve():
        raise UserError(f"--output_file={output} is the input")
    check_writable(output)
    lines = read_text(FLAGS.input_file)
    if not FLAGS.phrases:
        write_trees(output, lines)
    else:
        trees = read_text(FLAGS.trees_file) if FLAGS.trees_file else list(parsed(lines))
        name = FLAGS.trees_file or FLAGS.input_file
        write_text(output, read_annotations(PHRASES, lines, trees, name))
    note(f"{len(lines)} sentences: {suffix} written to {output}")


def write_trees(output: str, lines: Sequence[str]) -> None:
    """Write the tree of every line.

    Each tree is appended to `OUTPUT.part` as soon as it is made, since parsing takes long; a run
    that was interrupted continues from there.

    Raises:
        UserError: that file has trees of another text.
    """
    from t2t_phrase.files import explain_os_error
    from t2t_phrase.text.annotations.base import read_annotations

    part = pathlib.Path(f"{output}.part").expanduser()
    kept: list[str] = []
    if part.exists():
        kept = part.read_bytes().decode("utf-8", errors="ignore").split("\n")[:-1]
        try:
            read_annotations(PHRASES, lines[: len(kept)], kept, str(part))
        except UserError as error:
            raise UserError(f"{error}; delete {part}, which is from an earlier run") from error
        note(f"{part}: {len(kept)} trees of an earlier run are kept")
    try:
        with open(part, "w", encoding="utf-8", newline="\n", buffering=1) as file:
            for tree in itertools.chain(kept, parsed(lines, done=len(kept))):
                file.write(tree + "\n")
        os.replace(part, pathlib.Path(output).expanduser())
    except OSError as error:
        raise explain_os_error(error, part) from error


def parsed(lines: Sequence[str], done: int = 0) -> Iterator[str]:
    """Yield the tree of every line from `done` on; report progress and failures."""
    from t2t_phrase.text.trees.parsers import open_parser, parse_lines

    parser = open_parser(FLAGS.parser, language=FLAGS.language, corenlp_url=FLAGS.corenlp_url)
    ticker = Ticker("parsed", len(lines))
    faults = 0
    for number, (tree, fault) in enumerate(parse_lines(parser, lines[done:]), start=done + 1):
        if fault:
            faults += 1
            if faults <= LISTED:
                note(f"{FLAGS.input_file}:{number}: {fault}; a flat tree is written instead")
        ticker(number)
        yield tree
    if faults > LISTED:
        note(f"{faults} sentences have flat trees in total")


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main, tensorflow=False)


if __name__ == "__main__":
    run()
