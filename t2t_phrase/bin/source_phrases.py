"""Where commands get the phrases of source sentences from: files of trees, or a parser."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from absl import flags

from t2t_phrase.config import UserError

FLAGS = flags.FLAGS


def define_trees_flags() -> None:
    """Define the flags by which a command is given trees or told to make them."""
    flags.DEFINE_string(
        "decode_trees_file",
        None,
        "Trees of the source lines, for a model that reads phrases; default: `.trees` behind the "
        "name of the source file.",
    )
    define_parser_flags()


def define_parser_flags() -> None:
    """Define the flags that say which parser."""
    flags.DEFINE_enum("parser", None, ("stanza", "corenlp"), "A parser that is installed.")
    flags.DEFINE_string("language", "en", "Whose models Stanza loads.")
    flags.DEFINE_string("corenlp_url", "http://localhost:9000", "Where the CoreNLP server is.")


def source_phrases(
    record: Any, lines: Sequence[str], source_file: str | None
) -> list[list[str]] | None:
    """Return the lines cut into phrases, or None for a model that does not read them.

    Args:
        record: of the model's run.
        lines: source sentences.
        source_file: where they are from, if from a file.

    Raises:
        UserError: there are no trees, or they do not fit; or there are, and the model reads none.
    """
    if not record.resolved().reads_phrases:
        if FLAGS.decode_trees_file:
            raise UserError(
                f"--decode_trees_file={FLAGS.decode_trees_file}: a model of {record.hparams_set} "
                "reads no phrases; leave the flag out"
            )
        return None
    from t2t_phrase.evaluation.text_files import read_text
    from t2t_phrase.text.trees.subword_phrases import cut_lines

    path = FLAGS.decode_trees_file or trees_beside(source_file)
    if path:
        return cut_lines(lines, read_text(path), path)
    if FLAGS.parser:
        return phrase_cutter(record)(lines)
    made = (
        f"make them by t2t-phrase-parse --input_file={source_file} --parser=stanza"
        if source_file
        else "give --decode_trees_file"
    )
    raise UserError(
        f"a model of {record.hparams_set} reads the phrases of parsed sentences, and there are no "
        f"trees: {made}, or let --parser=stanza or --parser=corenlp parse now"
    )


def phrase_cutter(record: Any) -> Callable[[Sequence[str]], list[list[str]]]:
    """Return what cuts lines into phrases by parsing them.

    Raises:
        UserError: no parser is chosen, or it is not installed.
    """
    if not FLAGS.parser:
        raise UserError(
            f"a model of {record.hparams_set} reads the phrases of parsed sentences: to translate "
            "what is typed, give --parser=stanza or --parser=corenlp"
        )
    from t2t_phrase.text.trees.parsers import open_parser, parse_lines
    from t2t_phrase.text.trees.subword_phrases import cut_by_tree

    parser = open_parser(FLAGS.parser, language=FLAGS.language, corenlp_url=FLAGS.corenlp_url)

    def cut(lines: Sequence[str]) -> list[list[str]]:
        trees = (tree for tree, _ in parse_lines(parser, lines))
        return [cut_by_tree(*pair) for pair in zip(lines, trees, strict=True)]

    return cut


def trees_beside(source_file: str | None) -> str | None:
    """Return the file of trees that belongs to a source file, if there is one.

    It is called `FILE.trees`; the text that t2t-phrase-datagen keeps, `NAME-test.en`, has its trees
    in `NAME-test.trees`.
    """
    if not source_file:
        return None
    path = pathlib.Path(source_file.removesuffix(".gz")).expanduser()
    for candidate in (path.with_name(f"{path.name}.trees"), path.with_suffix(".trees")):
        if candidate.is_file():
            return str(candidate)
    return None
