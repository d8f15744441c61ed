"""The flag that names a dictionary of unknown words."""

from __future__ import annotations

from absl import flags

from t2t_phrase.decoding.unknown_files import NAME


def define_unknown_flags() -> None:
    """Define the flag that names the dictionary."""
    flags.DEFINE_string(
        NAME,
        None,
        "File with source word<TAB>target word in each line, such as t2t-phrase-dictionary "
        "--words makes: with replace_unknown=true in --decode_hparams, unknown words are "
        "translated with it, and copied from the source where it lacks them.",
    )
