"""The flags that name an alignment model, dictionaries and prefixes."""

from __future__ import annotations

from collections.abc import Sequence

from absl import app, flags

from t2t_phrase.decoding.lexicon_files import NAME as LEXICON_FILE
from t2t_phrase.decoding.unknown_files import NAME as UNKNOWN_DICTIONARY
from t2t_phrase.text.dictionaries.reader import MODES

FLAGS = flags.FLAGS
PREFIX_FILE = "prefix_file"


def define_alignment_flag() -> None:
    """Define the flag that names a second model, which proposes source positions."""
    flags.DEFINE_string(
        "alignment_model_dir",
        None,
        "Run or checkpoint of an alignment model, which a model that reads alignments uses to "
        "translate, and to align pairs that are scored.",
    )


def define_dictionary_flags() -> None:
    """Define the flags that name dictionaries."""
    flags.DEFINE_string(
        "dictionary",
        None,
        "File with source phrase<TAB>target phrase in each line; the phrases are translated "
        "accordingly.",
    )
    flags.DEFINE_string(
        "sentence_dictionary",
        None,
        "File with sentence number<TAB>source phrase<TAB>target phrase in each line, sentences "
        "counted from 1: the same for single sentences; takes precedence over --dictionary.",
    )
    flags.DEFINE_enum(
        "dictionary_mode",
        MODES[0],
        MODES,
        "guide: an entry is used where its source is attended to; require: every translation "
        "contains all entries of its sentence, entries with the same source are alternatives, and "
        "the phrase of a target !phrase must not appear.",
    )
    flags.DEFINE_string(
        PREFIX_FILE,
        None,
        "File with the prefix of each translation, one per line; a prefix may be empty and may "
        "end within a word.",
    )
    define_lexicon_flag()


def define_lexicon_flag() -> None:
    """Define the flag that names a lexicon."""
    flags.DEFINE_string(
        LEXICON_FILE,
        None,
        "File with word translations from t2t-phrase-align --lexicon_file: each sentence is "
        "translated only with the tokens that it proposes and the most frequent ones.",
    )


def define_unknown_flag() -> None:
    """Define the flag that names a dictionary of unknown words."""
    flags.DEFINE_string(
        UNKNOWN_DICTIONARY,
        None,
        "File with source word<TAB>target word in each line, such as t2t-phrase-dictionary "
        "--words makes: with replace_unknown=true in --decode_hparams, unknown words are "
        "translated with it, and copied from the source where it lacks them.",
    )


def refuse_unread(task: str, names: Sequence[str]) -> None:
    """Refuse flags that a task does not read.

    Args:
        task: the flag that chooses the task.
        names: flags that it does not read.

    Raises:
        UsageError: such a flag is given.
    """
    for name in names:
        if FLAGS[name].value:
            raise app.UsageError(f"--{name} cannot be used with --{task}")
    if task != "decode_interactive" and FLAGS.dictionary_mode != MODES[0]:
        raise app.UsageError(f"--dictionary_mode cannot be used with --{task}")
