"""Alignment-assisted translation (Alkhouli et al., 2018): lexical and alignment models."""

from t2t_phrase.models.alignment_assisted import AlignmentAssistedHParams, with_alignment_heads
from t2t_phrase.models.alignment_model import AlignmentModelHParams, with_jumps
from t2t_phrase.registry import hparams

from .phrase_interleaved import (
    phrase_interleaved_queryk_1_2,
    phrase_interleaved_queryk_1_2_demo,
    phrase_interleaved_queryk_1_2_multi30k,
)
from .transformer import transformer_base, transformer_demo, transformer_multi30k


@hparams.register
def alignment_assisted_base() -> AlignmentAssistedHParams:
    """`transformer_base` with alignment heads; start it from a converged `transformer_base` run."""
    return with_alignment_heads(transformer_base())


@hparams.register
def alignment_assisted_multi30k() -> AlignmentAssistedHParams:
    """`transformer_multi30k` with alignment heads."""
    return with_alignment_heads(transformer_multi30k())


@hparams.register
def alignment_assisted_demo() -> AlignmentAssistedHParams:
    """`transformer_demo` with alignment heads."""
    return with_alignment_heads(transformer_demo())


@hparams.register
def alignment_assisted_phrase_interleaved_queryk_1_2() -> AlignmentAssistedHParams:
    """`phrase_interleaved_queryk_1_2` with alignment heads; not in the paper."""
    return with_alignment_heads(phrase_interleaved_queryk_1_2())


@hparams.register
def alignment_assisted_phrase_interleaved_queryk_1_2_multi30k() -> AlignmentAssistedHParams:
    """`phrase_interleaved_queryk_1_2_multi30k` with alignment heads; not in the paper."""
    return with_alignment_heads(phrase_interleaved_queryk_1_2_multi30k())


@hparams.register
def alignment_assisted_phrase_interleaved_queryk_1_2_demo() -> AlignmentAssistedHParams:
    """`phrase_interleaved_queryk_1_2_demo` with alignment heads; not in the paper."""
    return with_alignment_heads(phrase_interleaved_queryk_1_2_demo())


@hparams.register
def alignment_model_base() -> AlignmentModelHParams:
    """The alignment model with the sizes and the recipe of `transformer_base`."""
    return with_jumps(transformer_base())


@hparams.register
def alignment_model_multi30k() -> AlignmentModelHParams:
    """The alignment model with the sizes and the recipe of `transformer_multi30k`."""
    return with_jumps(transformer_multi30k())


@hparams.register
def alignment_model_demo() -> AlignmentModelHParams:
    """The alignment model with the sizes and the recipe of `transformer_demo`."""
    return with_jumps(transformer_demo())
