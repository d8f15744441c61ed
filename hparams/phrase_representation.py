"""Source phrase representations: the models of Xu et al. (2020), Table 2, and other sizes."""

from t2t_phrase.models.phrase_representation import (
    PhraseRepresentationHParams,
    with_phrase_representation,
)
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.registry import hparams

from .transformer import (
    transformer_base_untied,
    transformer_big_untied,
    transformer_demo,
    transformer_multi30k,
)


def _mean(base: TransformerHParams) -> PhraseRepresentationHParams:
    return _max(base).replace(phrase_glance="mean")


def _max(base: TransformerHParams) -> PhraseRepresentationHParams:
    return _max_attn(base).replace(attentive_pooling=False)


def _max_attn(base: TransformerHParams) -> PhraseRepresentationHParams:
    return with_phrase_representation(base, transparent_attention=False)


def _max_attn_ta(base: TransformerHParams) -> PhraseRepresentationHParams:
    return with_phrase_representation(base)


def _parse(base: TransformerHParams) -> PhraseRepresentationHParams:
    return with_phrase_representation(base, phrases="parsed")


@hparams.register
def phrase_representation_base_mean() -> PhraseRepresentationHParams:
    """Mean pooling of segments: Table 2, +Mean. 129.0M."""
    return _mean(transformer_base_untied())


@hparams.register
def phrase_representation_base_max() -> PhraseRepresentationHParams:
    """Max pooling of segments: Table 2, +Max. 129.0M."""
    return _max(transformer_base_untied())


@hparams.register
def phrase_representation_base_max_attn() -> PhraseRepresentationHParams:
    """Attentive pooling: Table 2, +Max+Attn. 132.6M (173.0M in the paper)."""
    return _max_attn(transformer_base_untied())


@hparams.register
def phrase_representation_base_max_attn_ta() -> PhraseRepresentationHParams:
    """Attentive pooling and transparent attention: Table 2, +Max+Attn+TA; Table 1, +PR. 132.6M."""
    return _max_attn_ta(transformer_base_untied())


@hparams.register
def phrase_representation_base_parse() -> PhraseRepresentationHParams:
    """+Max+Attn+TA with segments of parsed sentences: Table 2, +Parsing Phrase. 132.6M."""
    return _parse(transformer_base_untied())


@hparams.register
def phrase_representation_big() -> PhraseRepresentationHParams:
    """Attentive pooling and transparent attention, big: Table 1, Transformer Big +PR."""
    return _max_attn_ta(transformer_big_untied())


@hparams.register
def phrase_representation_interleaved_queryk_1_2_base() -> PhraseRepresentationHParams:
    """Source phrase representations, and attention from and to n-grams everywhere else."""
    return _max_attn_ta(transformer_base_untied()).replace(
        encoder_attention="interleaved_queryk",
        decoder_attention="interleaved_queryk",
        cross_attention="interleaved_queryk",
    )


@hparams.register
def phrase_representation_mean_multi30k() -> PhraseRepresentationHParams:
    """`transformer_multi30k` with mean pooling of segments."""
    return _mean(transformer_multi30k())


@hparams.register
def phrase_representation_max_multi30k() -> PhraseRepresentationHParams:
    """`transformer_multi30k` with max pooling of segments."""
    return _max(transformer_multi30k())


@hparams.register
def phrase_representation_max_attn_multi30k() -> PhraseRepresentationHParams:
    """`transformer_multi30k` with attentive pooling of segments."""
    return _max_attn(transformer_multi30k())


@hparams.register
def phrase_representation_max_attn_ta_multi30k() -> PhraseRepresentationHParams:
    """`transformer_multi30k` with attentive pooling and transparent attention."""
    return _max_attn_ta(transformer_multi30k())


@hparams.register
def phrase_representation_parse_multi30k() -> PhraseRepresentationHParams:
    """`phrase_representation_max_attn_ta_multi30k` with segments of parsed sentences."""
    return _parse(transformer_multi30k())


@hparams.register
def phrase_representation_mean_demo() -> PhraseRepresentationHParams:
    """`transformer_demo` with mean pooling of segments."""
    return _mean(transformer_demo())


@hparams.register
def phrase_representation_max_demo() -> PhraseRepresentationHParams:
    """`transformer_demo` with max pooling of segments."""
    return _max(transformer_demo())


@hparams.register
def phrase_representation_max_attn_demo() -> PhraseRepresentationHParams:
    """`transformer_demo` with attentive pooling of segments."""
    return _max_attn(transformer_demo())


@hparams.register
def phrase_representation_max_attn_ta_demo() -> PhraseRepresentationHParams:
    """`transformer_demo` with attentive pooling and transparent attention."""
    return _max_attn_ta(transformer_demo())


@hparams.register
def phrase_representation_parse_demo() -> PhraseRepresentationHParams:
    """`phrase_representation_max_attn_ta_demo` with segments from the trees of the corpus."""
    return _parse(transformer_demo())
