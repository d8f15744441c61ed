"""The flags that give features of sentences, or choose a parser that makes them."""

from __future__ import annotations

from absl import app, flags

from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.config import UserError, parse_assignments
from t2t_phrase.decoding.feature_files import ParserChoice

FLAGS = flags.FLAGS


def define_feature_flags() -> None:
    """Define the flags that give features of sentences or choose a parser for them."""
    flags.DEFINE_string(
        "feature_files",
        "",
        "Files with a line for each sentence, for a model that reads features in addition to the "
        "text: NAME=FILE,NAME=FILE. Default: FILE.STREAM next to the text, such as test.en.trees.",
    )
    define_parser_flags()


def define_parser_flags() -> None:
    """Define the flags that choose a parser."""
    flags.DEFINE_enum(
        "parser", None, ("stanza", "corenlp"), "An installed parser, for models that read trees."
    )
    flags.DEFINE_string("language", "en", "The language whose models Stanza loads.")
    flags.DEFINE_string("corenlp_url", "http://localhost:9000", "Address of the CoreNLP server.")


def given_feature_files() -> dict[str, str]:
    """Return the files of --feature_files by feature.

    Raises:
        UserError: the flag is malformed, or a name of a file is empty.
        UsageError: the flag is empty.
    """
    refuse_empty("feature_files")
    files = parse_assignments(FLAGS.feature_files)
    for name, path in files.items():
        if not path:
            raise UserError(
                f"--feature_files={name}=: give the name of a file, or leave {name} out"
            )
    return files


def check_parser_flags() -> None:
    """Refuse flags of a parser that is not chosen.

    Raises:
        UsageError: there is one.
    """
    for name, parser in (("language", "stanza"), ("corenlp_url", "corenlp")):
        if FLAGS[name].present and FLAGS.parser != parser:
            raise app.UsageError(f"--{name} is only used with --parser={parser}")


def given_parser() -> ParserChoice:
    """Return the parser that the flags choose.

    Raises:
        UsageError: a flag is for another parser.
    """
    check_parser_flags()
    return ParserChoice(FLAGS.parser or "", FLAGS.language, FLAGS.corenlp_url)
