"""The flag --alignment_model_dir: a second model, which proposes source positions."""

from __future__ import annotations

from absl import flags


def define_alignment_flags() -> None:
    """Define the flag."""
    flags.DEFINE_string(
        "alignment_model_dir",
        None,
        "Run or checkpoint of an alignment model, which a model that reads alignments uses to "
        "translate, and to align pairs that are scored.",
    )
