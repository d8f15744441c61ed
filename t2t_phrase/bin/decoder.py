"""t2t-phrase-decoder: translates text, or scores translations, with a trained model.

t2t-phrase-decoder --output_dir=runs/mine --decode_from_file=test.en --decode_to_file=test.de
t2t-phrase-decoder --output_dir=runs/mine --checkpoint_path=best --decode_interactive
t2t-phrase-decoder --output_dir=runs/a,runs/b --decode_hparams=beam_size=8 < test.en > test.de
t2t-phrase-decoder --output_dir=runs/mine --score_file=pairs.tsv --decode_to_file=scores
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.flag_parsing import refuse_empty
from t2t_phrase.bin.integer_products import note_slow_integers
from t2t_phrase.bin.model_flags import define_model_flags, load
from t2t_phrase.bin.source_features import (
    define_feature_flags,
    given_feature_files,
    given_parser,
)
from t2t_phrase.bin.translation_flags import (
    LEXICON_FILE,
    PREFIX_FILE,
    UNKNOWN_DICTIONARY,
    define_alignment_flag,
    define_dictionary_flags,
    define_unknown_flag,
    refuse_unread,
)
from t2t_phrase.config import UserError
from t2t_phrase.decoding.dictionary_files import NAMES, read_dictionaries
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.lexicon_files import read_lexicon
from t2t_phrase.decoding.unknown_files import read_unknown
from t2t_phrase.features import of_side
from t2t_phrase.io.reporting import note

if TYPE_CHECKING:
    from t2t_phrase.api.text_files import Beside
    from t2t_phrase.decoding.dictionary_files import GivenDictionaries
    from t2t_phrase.decoding.interactive import Conversation

FLAGS = flags.FLAGS
_FILES = (
    *("decode_from_file", "decode_to_file", "score_file", "alignment_model_dir"),
    *(*NAMES, PREFIX_FILE, LEXICON_FILE, UNKNOWN_DICTIONARY),
)


def define_flags() -> None:
    """Define the command's flags."""
    define_model_flags()
    define_alignment_flag()
    flags.DEFINE_string("decode_from_file", None, "File to translate; default: standard input.")
    flags.DEFINE_string(
        "decode_to_file",
        None,
        "File for the translations or scores; default: "
        "FILE.MODEL.SET.PROBLEM.beamB.alphaA.decodes for --decode_from_file=FILE, standard output "
        "otherwise. Finished work is kept under the same name with .part appended, and the same "
        "command continues from there.",
    )
    flags.DEFINE_bool("decode_interactive", False, "Translate lines as you type them.")
    flags.DEFINE_string(
        "score_file",
        None,
        "File with source<TAB>target in each line: write the negative log-probability of each "
        "target, in nats, instead of translating.",
    )
    define_feature_flags()
    define_dictionary_flags()
    define_unknown_flag()
    flags.DEFINE_string(
        "decode_hparams", "", "Options of decoding, such as beam_size=4,alpha=0.6,extra_length=50."
    )
    flags.DEFINE_enum(
        "n_best_format",
        "text",
        ["text", "json"],
        "json: write a line of JSON for each sentence, with the text, tokens, score and "
        "probabilities of each hypothesis; see docs/decoding.md.",
    )
    flags.DEFINE_integer(
        "random_seed", None, "Seed of sampling; the same as random_seed in --decode_hparams."
    )
    flags.DEFINE_bool("xla_compile", None, "Compile with XLA; default: only on a GPU.")


def main(argv: Sequence[str]) -> None:
    """Translate or score."""
    del argv
    refuse_empty(*_FILES)
    hparams = DecodeHParams().override(FLAGS.decode_hparams)
    if FLAGS.random_seed is not None:
        if hparams.random_seed not in (0, FLAGS.random_seed):
            raise app.UsageError(
                f"--random_seed={FLAGS.random_seed} contradicts random_seed={hparams.random_seed} "
                "in --decode_hparams; give one of them"
            )
        hparams = hparams.replace(random_seed=FLAGS.random_seed)
    note_slow_integers(hparams)
    tasks = [f for f in ("decode_from_file", "decode_interactive", "score_file") if FLAGS[f].value]
    if len(tasks) > 1:
        raise app.UsageError(f"--{tasks[0]} and --{tasks[1]} exclude each other")
    registry.discover(FLAGS.t2t_usr_dir)
    if FLAGS.n_best_format == "json" and (FLAGS.decode_interactive or FLAGS.score_file):
        task = "decode_interactive" if FLAGS.decode_interactive else "score_file"
        raise app.UsageError(f"--n_best_format=json: cannot be used with --{task}")
    target = FLAGS.decode_to_file
    if FLAGS.decode_interactive:
        converse(hparams)
    elif FLAGS.score_file:
        from t2t_phrase.api.file_scoring import FileScoring

        names = [*NAMES, UNKNOWN_DICTIONARY, PREFIX_FILE, LEXICON_FILE]
        refuse_unread("score_file", names)
        scoring = FileScoring(hparams, pairs=FLAGS.score_file, target=target, beside=beside())
        scoring.run(*load())
    else:
        from t2t_phrase.api.file_translation import FileTranslation

        source = FLAGS.decode_from_file
        translation = FileTranslation(hparams, source=source, target=target, beside=beside())
        translation.run(*load())


def beside() -> Beside:
    """Return the files and options that the flags name, apart from model and text."""
    from t2t_phrase.api.text_files import Beside

    settings = {}
    if FLAGS.ensemble_weights:
        settings["ensemble_weights"] = ",".join(FLAGS.ensemble_weights)
    if FLAGS.dtype_policy:
        settings["dtype_policy"] = FLAGS.dtype_policy
    return Beside(
        feature_files=given_feature_files(),
        parser=given_parser(),
        dictionary=FLAGS.dictionary or "",
        sentence_dictionary=FLAGS.sentence_dictionary or "",
        dictionary_mode=FLAGS.dictionary_mode,
        prefix_file=FLAGS.prefix_file or "",
        lexicon_file=FLAGS.lexicon_file or "",
        unknown_dictionary=FLAGS.unknown_dictionary or "",
        alignment_model_dir=FLAGS.alignment_model_dir,
        xla=FLAGS.xla_compile,
        n_best_format=FLAGS.n_best_format,
        settings=settings,
    )


def converse(hparams: DecodeHParams) -> None:
    """Answer typed lines until `q` or the end of the input."""
    from t2t_phrase.decoding.interactive import HELP

    if sys.stdin is None:
        raise UserError("standard input is closed; nothing can be typed")
    files = ["decode_to_file", "feature_files", "sentence_dictionary", PREFIX_FILE, LEXICON_FILE]
    refuse_unread("decode_interactive", files)
    conversation = conversation_of(hparams)
    note(HELP)
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.buffer.readline()
        if not line:
            return
        try:
            answer = conversation.answer(line.decode("utf-8").rstrip("\r\n"))
        except UnicodeDecodeError:
            answer = "error: this is not valid UTF-8; type it again"
        except UserError as error:
            answer = f"error: {error}"
        if answer is None:
            return
        print(answer, flush=True)


def conversation_of(hparams: DecodeHParams) -> Conversation:
    """Return a conversation with the model and the dictionaries that the flags name.

    Args:
        hparams: the options of decoding that it begins with.

    Raises:
        UserError: a file, an option or the model is wrong.
    """
    from t2t_phrase.api.alignment_search import searched
    from t2t_phrase.decoding.feature_files import annotator
    from t2t_phrase.decoding.interactive import Conversation
    from t2t_phrase.decoding.translator import Translator

    given = read_dictionaries(FLAGS.dictionary or "", mode=FLAGS.dictionary_mode)
    check_typed(hparams, given)
    unknown = read_unknown(hparams, FLAGS.unknown_dictionary or "")
    trained, vocabularies = load()
    used = searched(
        trained,
        vocabularies,
        hparams,
        FLAGS.alignment_model_dir,
        dtype_policy=FLAGS.dtype_policy,
    )
    dictionary = given.encoded(vocabularies)

    def make_translator(options: DecodeHParams) -> Translator:
        check_typed(options, given)  # again, since options may be changed
        return Translator(
            used.model,
            vocabularies,
            options,
            dictionary=dictionary,
            unknown_words=unknown.words,
            make_expansion=used.make_expansion,
            xla=FLAGS.xla_compile,
        )

    return Conversation(
        make_translator,
        hparams,
        annotate=annotator(of_side(used.model.hparams.features, "source"), given_parser()),
    )


def check_typed(options: DecodeHParams, given: GivenDictionaries) -> None:
    """Refuse options that typed lines cannot be translated with.

    Args:
        options: of decoding.
        given: the dictionaries.

    Raises:
        UserError: an option has no effect, or does not fit the others.
    """
    from t2t_phrase.api.alignment_search import check_search_options
    from t2t_phrase.api.text_files import check_alignment_options
    from t2t_phrase.decoding.search.required_terms import TERMS
    from t2t_phrase.decoding.search.restrictions import check_restrictions

    read_lexicon(options)
    check_alignment_options(options, used=given.aligns)
    check_search_options(options, FLAGS.alignment_model_dir)
    check_restrictions({TERMS: None} if given.mode == "require" else {}, options)
    if options.token_probabilities:
        raise UserError(
            "token_probabilities=true: is only written with --n_best_format=json, in files"
        )


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()
