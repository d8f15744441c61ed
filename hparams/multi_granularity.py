"""Multi-granularity self-attention: the models of Hao et al. (2019), and other sizes."""

from t2t_phrase.models.multi_granularity_hparams import MultiGranularityHParams, with_granularities
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.registry import hparams

from .transformer import transformer_base, transformer_big, transformer_demo, transformer_multi30k


def _ngrams(base: TransformerHParams, composition: str) -> MultiGranularityHParams:
    return with_granularities(base, composition=composition)


def _syntax(base: TransformerHParams, interaction: str = "none") -> MultiGranularityHParams:
    return with_granularities(
        base,
        granularities=("tokens", "level_1", "level_2", "level_3"),
        interaction=interaction,
    )


def _tags(base: TransformerHParams, interaction: str = "none") -> MultiGranularityHParams:
    return _syntax(base, interaction).replace(tag_loss_weight=0.001)


def _strong_tags(base: TransformerHParams, interaction: str = "none") -> MultiGranularityHParams:
    # Differs from the paper, whose weight of 0.001 is too small to have an effect: see
    # docs/results/multi_granularity.md.
    return _tags(base, interaction).replace(tag_loss_weight=0.1)


@hparams.register
def mgsa_base_ngram_max() -> MultiGranularityHParams:
    """Max-pooling of 2-, 3- and 4-grams: Table 1."""
    return _ngrams(transformer_base(), "max")


@hparams.register
def mgsa_base_ngram_lstm() -> MultiGranularityHParams:
    """The last state of an LSTM over 2-, 3- and 4-grams: Table 1."""
    return _ngrams(transformer_base(), "lstm")


@hparams.register
def mgsa_base_ngram_san() -> MultiGranularityHParams:
    """Self-attention within 2-, 3- and 4-grams: Table 1."""
    return _ngrams(transformer_base(), "attention")


@hparams.register
def mgsa_base_layers_1() -> MultiGranularityHParams:
    """Granularities in the bottom encoder layer: Table 2."""
    return mgsa_base_ngram_san().replace(granularity_layers=(1,))


@hparams.register
def mgsa_base_layers_1_2() -> MultiGranularityHParams:
    """Granularities in encoder layers 1 to 2: Table 2."""
    return mgsa_base_ngram_san().replace(granularity_layers=(1, 2))


@hparams.register
def mgsa_base_layers_1_3() -> MultiGranularityHParams:
    """Granularities in encoder layers 1 to 3: Table 2."""
    return mgsa_base_ngram_san().replace(granularity_layers=(1, 2, 3))


@hparams.register
def mgsa_base_layers_1_4() -> MultiGranularityHParams:
    """Granularities in encoder layers 1 to 4: Table 2."""
    return mgsa_base_ngram_san().replace(granularity_layers=(1, 2, 3, 4))


@hparams.register
def mgsa_base_layers_1_5() -> MultiGranularityHParams:
    """Granularities in encoder layers 1 to 5: Table 2."""
    return mgsa_base_ngram_san().replace(granularity_layers=(1, 2, 3, 4, 5))


@hparams.register
def mgsa_base_layers_1_6() -> MultiGranularityHParams:
    """Granularities in encoder layers 1 to 6: Table 2."""
    return mgsa_base_ngram_san().replace(granularity_layers=(1, 2, 3, 4, 5, 6))


@hparams.register
def mgsa_base_syntax() -> MultiGranularityHParams:
    """The top 3 levels of constituency trees: Table 3, syntactic phrase."""
    return _syntax(transformer_base())


@hparams.register
def mgsa_base_syntax_tag() -> MultiGranularityHParams:
    """`mgsa_base_syntax` that predicts labels: Table 3, syntactic phrase with tag supervision."""
    return _tags(transformer_base())


@hparams.register
def mgsa_base_syntax_tag_lstm() -> MultiGranularityHParams:
    """`mgsa_base_syntax_tag` with an LSTM over the segments of a sentence: Table 3."""
    return _tags(transformer_base(), "lstm")


@hparams.register
def mgsa_base_syntax_tag_onlstm() -> MultiGranularityHParams:
    """`mgsa_base_syntax_tag` with an ON-LSTM over the segments of a sentence: Table 3."""
    return _tags(transformer_base(), "on_lstm")


@hparams.register
def mgsa_base_syntax_lstm() -> MultiGranularityHParams:
    """`mgsa_base_syntax_tag_lstm` without labels."""
    return _syntax(transformer_base(), "lstm")


@hparams.register
def mgsa_base_syntax_onlstm() -> MultiGranularityHParams:
    """`mgsa_base_syntax_tag_onlstm` without labels, as in Table 5."""
    return _syntax(transformer_base(), "on_lstm")


@hparams.register
def mgsa_big() -> MultiGranularityHParams:
    """`mgsa_base_syntax_tag_onlstm` on top of `transformer_big`: Table 4, big."""
    return _tags(transformer_big(), "on_lstm")


@hparams.register
def mgsa_phrase_attention_demo() -> MultiGranularityHParams:
    """`mgsa_ngram_san_demo` with interleaved QueryK in decoder and cross-attention."""
    return mgsa_ngram_san_demo().replace(
        decoder_attention="interleaved_queryk", cross_attention="interleaved_queryk"
    )


@hparams.register
def mgsa_ngram_max_multi30k() -> MultiGranularityHParams:
    """`transformer_multi30k` with max-pooling of 2-, 3- and 4-grams."""
    return _ngrams(transformer_multi30k(), "max")


@hparams.register
def mgsa_ngram_lstm_multi30k() -> MultiGranularityHParams:
    """`transformer_multi30k` with the last state of an LSTM over 2-, 3- and 4-grams."""
    return _ngrams(transformer_multi30k(), "lstm")


@hparams.register
def mgsa_ngram_san_multi30k() -> MultiGranularityHParams:
    """`transformer_multi30k` with self-attention within 2-, 3- and 4-grams."""
    return _ngrams(transformer_multi30k(), "attention")


@hparams.register
def mgsa_syntax_multi30k() -> MultiGranularityHParams:
    """`transformer_multi30k` with the top 3 levels of trees."""
    return _syntax(transformer_multi30k())


@hparams.register
def mgsa_syntax_tag_multi30k() -> MultiGranularityHParams:
    """`transformer_multi30k` with the top 3 levels of trees and their labels."""
    return _strong_tags(transformer_multi30k())


@hparams.register
def mgsa_syntax_tag_lstm_multi30k() -> MultiGranularityHParams:
    """`transformer_multi30k` with the top 3 levels of trees, labels and an LSTM over segments."""
    return _strong_tags(transformer_multi30k(), "lstm")


@hparams.register
def mgsa_syntax_tag_onlstm_multi30k() -> MultiGranularityHParams:
    """`transformer_multi30k` with the top 3 levels of trees, labels, and an ON-LSTM."""
    return _strong_tags(transformer_multi30k(), "on_lstm")


@hparams.register
def mgsa_syntax_lstm_multi30k() -> MultiGranularityHParams:
    """`transformer_multi30k` with the top 3 levels of trees and an LSTM over segments."""
    return _syntax(transformer_multi30k(), "lstm")


@hparams.register
def mgsa_syntax_onlstm_multi30k() -> MultiGranularityHParams:
    """`transformer_multi30k` with the top 3 levels of trees and an ON-LSTM over segments."""
    return _syntax(transformer_multi30k(), "on_lstm")


@hparams.register
def mgsa_ngram_max_demo() -> MultiGranularityHParams:
    """`transformer_demo` with max-pooling of 2-, 3- and 4-grams."""
    return _ngrams(transformer_demo(), "max")


@hparams.register
def mgsa_ngram_lstm_demo() -> MultiGranularityHParams:
    """`transformer_demo` with the last state of an LSTM over 2-, 3- and 4-grams."""
    return _ngrams(transformer_demo(), "lstm")


@hparams.register
def mgsa_ngram_san_demo() -> MultiGranularityHParams:
    """`transformer_demo` with self-attention within 2-, 3- and 4-grams."""
    return _ngrams(transformer_demo(), "attention")


@hparams.register
def mgsa_syntax_demo() -> MultiGranularityHParams:
    """`transformer_demo` with the top 3 levels of trees."""
    return _syntax(transformer_demo())


@hparams.register
def mgsa_syntax_tag_demo() -> MultiGranularityHParams:
    """`transformer_demo` with the top 3 levels of trees and their labels."""
    return _strong_tags(transformer_demo())


@hparams.register
def mgsa_syntax_tag_lstm_demo() -> MultiGranularityHParams:
    """`transformer_demo` with the top 3 levels of trees, labels and an LSTM over segments."""
    return _strong_tags(transformer_demo(), "lstm")


@hparams.register
def mgsa_syntax_tag_onlstm_demo() -> MultiGranularityHParams:
    """`transformer_demo` with the top 3 levels of trees, labels, and an ON-LSTM."""
    return _strong_tags(transformer_demo(), "on_lstm")


@hparams.register
def mgsa_syntax_lstm_demo() -> MultiGranularityHParams:
    """`transformer_demo` with the top 3 levels of trees and an LSTM over segments."""
    return _syntax(transformer_demo(), "lstm")


@hparams.register
def mgsa_syntax_onlstm_demo() -> MultiGranularityHParams:
    """`transformer_demo` with the top 3 levels of trees and an ON-LSTM over segments."""
    return _syntax(transformer_demo(), "on_lstm")
