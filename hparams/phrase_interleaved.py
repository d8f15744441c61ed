"""Interleaved phrase attention: the models of Nguyen and Joty (2018), Table 1, and other sizes."""

from t2t_phrase.models.phrase_transformer import PhraseHParams, with_phrase_attention
from t2t_phrase.registry import hparams

from .transformer import (
    transformer_base_paper,
    transformer_big,
    transformer_demo,
    transformer_demo_muon,
    transformer_multi30k,
)


@hparams.register
def phrase_interleaved_convkv_1_2() -> PhraseHParams:
    """ConvKV from and to tokens and bigrams: Table 1, row 1-2. 97.6M (116M in the paper)."""
    return with_phrase_attention(transformer_base_paper(), "interleaved_convkv")


@hparams.register
def phrase_interleaved_convkv_1_2_3() -> PhraseHParams:
    """ConvKV from and to n-grams up to trigrams; not in the paper."""
    return with_phrase_attention(
        transformer_base_paper(), "interleaved_convkv", phrase_orders=(1, 2, 3)
    )


@hparams.register
def phrase_interleaved_convkv_1_2_big() -> PhraseHParams:
    """`transformer_big` with attention from and to tokens and bigrams."""
    return with_phrase_attention(transformer_big(), "interleaved_convkv")


@hparams.register
def phrase_interleaved_convkv_1_2_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with attention from and to tokens and bigrams."""
    return with_phrase_attention(transformer_multi30k(), "interleaved_convkv")


@hparams.register
def phrase_interleaved_convkv_1_2_3_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with attention from and to n-grams up to trigrams."""
    return with_phrase_attention(
        transformer_multi30k(), "interleaved_convkv", phrase_orders=(1, 2, 3)
    )


@hparams.register
def phrase_interleaved_convkv_1_2_demo() -> PhraseHParams:
    """`transformer_demo` with attention from and to tokens and bigrams."""
    return with_phrase_attention(transformer_demo(), "interleaved_convkv")


@hparams.register
def phrase_interleaved_convkv_1_2_demo_muon() -> PhraseHParams:
    """`transformer_demo_muon` with attention from and to tokens and bigrams."""
    return with_phrase_attention(transformer_demo_muon(), "interleaved_convkv")


@hparams.register
def phrase_interleaved_queryk_1_2() -> PhraseHParams:
    """QueryK from and to tokens and bigrams: Table 1, row 1-2. 116.5M."""
    return with_phrase_attention(transformer_base_paper(), "interleaved_queryk")


@hparams.register
def phrase_interleaved_queryk_1_2_3() -> PhraseHParams:
    """QueryK from and to n-grams up to trigrams; not in the paper."""
    return with_phrase_attention(
        transformer_base_paper(), "interleaved_queryk", phrase_orders=(1, 2, 3)
    )


@hparams.register
def phrase_interleaved_queryk_1_2_big() -> PhraseHParams:
    """`transformer_big` with attention from and to tokens and bigrams."""
    return with_phrase_attention(transformer_big(), "interleaved_queryk")


@hparams.register
def phrase_interleaved_queryk_1_2_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with attention from and to tokens and bigrams."""
    return with_phrase_attention(transformer_multi30k(), "interleaved_queryk")


@hparams.register
def phrase_interleaved_queryk_1_2_3_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with attention from and to n-grams up to trigrams."""
    return with_phrase_attention(
        transformer_multi30k(), "interleaved_queryk", phrase_orders=(1, 2, 3)
    )


@hparams.register
def phrase_interleaved_queryk_1_2_demo() -> PhraseHParams:
    """`transformer_demo` with attention from and to tokens and bigrams."""
    return with_phrase_attention(transformer_demo(), "interleaved_queryk")
