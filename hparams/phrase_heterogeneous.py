"""Heterogeneous phrase attention: the models of Nguyen and Joty (2018), and other sizes."""

from t2t_phrase.models.phrase_transformer import PhraseHParams, with_phrase_attention
from t2t_phrase.registry import hparams

from .transformer import (
    transformer_base_paper,
    transformer_big,
    transformer_demo,
    transformer_multi30k,
)


@hparams.register
def phrase_heterogeneous_convkv_1_2() -> PhraseHParams:
    """ConvKV over tokens and bigrams: Table 1, row 1-2. 81.9M."""
    return with_phrase_attention(transformer_base_paper(), "heterogeneous_convkv")


@hparams.register
def phrase_heterogeneous_convkv_1_2_3() -> PhraseHParams:
    """ConvKV up to trigrams: Table 1, row 1-2-3. 110.2M."""
    return with_phrase_attention(
        transformer_base_paper(), "heterogeneous_convkv", phrase_orders=(1, 2, 3)
    )


@hparams.register
def phrase_heterogeneous_convkv_1_2_3_4() -> PhraseHParams:
    """ConvKV up to 4-grams: Table 1, row 1-2-3-4. 147.9M."""
    return with_phrase_attention(
        transformer_base_paper(), "heterogeneous_convkv", phrase_orders=(1, 2, 3, 4)
    )


@hparams.register
def phrase_heterogeneous_convkv_1_2_4l() -> PhraseHParams:
    """ConvKV with four encoder and four decoder layers: Table 2. 60.9M."""
    return with_phrase_attention(
        transformer_base_paper(), "heterogeneous_convkv", num_hidden_layers=4
    )


@hparams.register
def phrase_heterogeneous_convkv_1_2_big() -> PhraseHParams:
    """`transformer_big` with attention to tokens and bigrams."""
    return with_phrase_attention(transformer_big(), "heterogeneous_convkv")


@hparams.register
def phrase_heterogeneous_convkv_1_2_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with attention to tokens and bigrams."""
    return with_phrase_attention(transformer_multi30k(), "heterogeneous_convkv")


@hparams.register
def phrase_heterogeneous_convkv_1_2_3_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with attention to n-grams up to trigrams."""
    return with_phrase_attention(
        transformer_multi30k(), "heterogeneous_convkv", phrase_orders=(1, 2, 3)
    )


@hparams.register
def phrase_heterogeneous_convkv_1_2_demo() -> PhraseHParams:
    """`transformer_demo` with attention to tokens and bigrams."""
    return with_phrase_attention(transformer_demo(), "heterogeneous_convkv")


@hparams.register
def phrase_heterogeneous_queryk_1_2() -> PhraseHParams:
    """QueryK over tokens and bigrams: Table 1, row 1-2. 81.9M."""
    return with_phrase_attention(transformer_base_paper(), "heterogeneous_queryk")


@hparams.register
def phrase_heterogeneous_queryk_1_2_3() -> PhraseHParams:
    """QueryK up to trigrams: Table 1, row 1-2-3. 110.2M."""
    return with_phrase_attention(
        transformer_base_paper(), "heterogeneous_queryk", phrase_orders=(1, 2, 3)
    )


@hparams.register
def phrase_heterogeneous_queryk_1_2_3_4() -> PhraseHParams:
    """QueryK up to 4-grams: Table 1, row 1-2-3-4. 147.9M."""
    return with_phrase_attention(
        transformer_base_paper(), "heterogeneous_queryk", phrase_orders=(1, 2, 3, 4)
    )


@hparams.register
def phrase_heterogeneous_queryk_1_2_big() -> PhraseHParams:
    """`transformer_big` with attention to tokens and bigrams."""
    return with_phrase_attention(transformer_big(), "heterogeneous_queryk")


@hparams.register
def phrase_heterogeneous_queryk_1_2_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with attention to tokens and bigrams."""
    return with_phrase_attention(transformer_multi30k(), "heterogeneous_queryk")


@hparams.register
def phrase_heterogeneous_queryk_1_2_3_multi30k() -> PhraseHParams:
    """`transformer_multi30k` with attention to n-grams up to trigrams."""
    return with_phrase_attention(
        transformer_multi30k(), "heterogeneous_queryk", phrase_orders=(1, 2, 3)
    )


@hparams.register
def phrase_heterogeneous_queryk_1_2_demo() -> PhraseHParams:
    """`transformer_demo` with attention to tokens and bigrams."""
    return with_phrase_attention(transformer_demo(), "heterogeneous_queryk")
