"""Homogeneous phrase attention: the models of Nguyen and Joty (2018), Table 1, and other sizes."""

from t2t_phrase.models.phrase_transformer import PhraseHParams, with_phrase_attention
from t2t_phrase.registry import hparams

from .transformer import (
    transformer_base_paper,
    transformer_big,
    transformer_demo,
    transformer_multi30k,
)


@hparams.register
def phrase_homogeneous_convkv_4_4() -> PhraseHParams:
    """ConvKV, four heads on tokens and four on bigrams: Table 1, row 4/4. 67.7M."""
    return with_phrase_attention(
        transformer_base_paper(), "homogeneous_convkv", phrase_head_counts=(4, 4)
    )


@hparams.register
def phrase_homogeneous_convkv_3_2_3() -> PhraseHParams:
    """ConvKV, heads on tokens, bigrams, trigrams: Table 1, row 3/2/3. 72.4M."""
    return with_phrase_attention(
        transformer_base_paper(),
        "homogeneous_convkv",
        phrase_orders=(1, 2, 3),
        phrase_head_counts=(3, 2, 3),
    )


@hparams.register
def phrase_homogeneous_convkv_8_8_big() -> PhraseHParams:
    """`transformer_big` with half of its heads on bigrams."""
    return with_phrase_attention(transformer_big(), "homogeneous_convkv", phrase_head_counts=(8, 8))


@hparams.register
def phrase_homogeneous_convkv_2_2_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with half of its heads on bigrams."""
    return with_phrase_attention(
        transformer_multi30k(), "homogeneous_convkv", phrase_head_counts=(2, 2)
    )


@hparams.register
def phrase_homogeneous_convkv_2_2_demo() -> PhraseHParams:
    """`transformer_demo` with half of its heads on bigrams."""
    return with_phrase_attention(
        transformer_demo(), "homogeneous_convkv", phrase_head_counts=(2, 2)
    )


@hparams.register
def phrase_homogeneous_queryk_4_4() -> PhraseHParams:
    """QueryK, four heads on tokens and four on bigrams: Table 1, row 4/4. 67.7M."""
    return with_phrase_attention(
        transformer_base_paper(), "homogeneous_queryk", phrase_head_counts=(4, 4)
    )


@hparams.register
def phrase_homogeneous_queryk_3_2_3() -> PhraseHParams:
    """QueryK, heads on tokens, bigrams, trigrams: Table 1, row 3/2/3. 72.4M."""
    return with_phrase_attention(
        transformer_base_paper(),
        "homogeneous_queryk",
        phrase_orders=(1, 2, 3),
        phrase_head_counts=(3, 2, 3),
    )


@hparams.register
def phrase_homogeneous_queryk_8_8_big() -> PhraseHParams:
    """`transformer_big` with half of its heads on bigrams."""
    return with_phrase_attention(transformer_big(), "homogeneous_queryk", phrase_head_counts=(8, 8))


@hparams.register
def phrase_homogeneous_queryk_2_2_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with half of its heads on bigrams."""
    return with_phrase_attention(
        transformer_multi30k(), "homogeneous_queryk", phrase_head_counts=(2, 2)
    )


@hparams.register
def phrase_homogeneous_queryk_2_2_demo() -> PhraseHParams:
    """`transformer_demo` with half of its heads on bigrams."""
    return with_phrase_attention(
        transformer_demo(), "homogeneous_queryk", phrase_head_counts=(2, 2)
    )
