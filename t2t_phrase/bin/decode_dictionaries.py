"""The flags that name dictionaries."""

from __future__ import annotations

from collections.abc import Sequence

from absl import app, flags

from t2t_phrase.decoding.dictionary_files import NAMES

FLAGS = flags.FLAGS


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
        "counted from 1: the same for single sentences, where it comes before --dictionary.",
    )


def refuse_dictionaries(task: str, names: Sequence[str] = NAMES) -> None:
    """Refuse the flags for a task that has no use for them.

    Raises:
        UsageError: one of them is given.
    """
    for name in names:
        if FLAGS[name].value:
            raise app.UsageError(f"--{name} cannot be used with --{task}")
