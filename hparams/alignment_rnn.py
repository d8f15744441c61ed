"""The recurrent rows of Alkhouli et al. (2018), Table 2: baseline, lexical and alignment models.

The models have one LSTM layer in each direction as encoder and one as decoder, scores from a
feed-forward network and input feeding, as in the paper's toolkit; `_base` has the paper's 1000
units.
"""

from t2t_phrase.models.alignment_assisted_rnn import (
    AlignmentAssistedRnnHParams,
    with_biased_attention,
)
from t2t_phrase.models.alignment_model_rnn import AlignmentModelRnnHParams, with_recurrent_jumps
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.registry import hparams

from .luong import (
    luong_base_local_p_general_feed_adam,
    luong_dropout_demo,
    luong_dropout_multi30k,
)


def _attention(base: LuongHParams) -> LuongHParams:
    return base.replace(
        num_hidden_layers=1,
        encoder_reads="both",
        attention="global",
        attention_score="concat",
        attention_window=0,
        input_feeding=True,
    )


@hparams.register
def rnn_attention_base() -> LuongHParams:
    """The baseline with attention: LSTMs of size 1000, trained with Adam and Luong's schedule."""
    return _attention(luong_base_local_p_general_feed_adam())


@hparams.register
def rnn_attention_multi30k() -> LuongHParams:
    """`rnn_attention_base` with size 256 and the recipe of `luong_dropout_multi30k`."""
    return _attention(luong_dropout_multi30k())


@hparams.register
def rnn_attention_demo() -> LuongHParams:
    """`rnn_attention_base` with size 128 and the recipe of `luong_dropout_demo`."""
    return _attention(luong_dropout_demo())


@hparams.register
def alignment_assisted_rnn_base() -> AlignmentAssistedRnnHParams:
    """`rnn_attention_base` with biased attention; start it from a converged run without bias."""
    return with_biased_attention(rnn_attention_base())


@hparams.register
def alignment_assisted_rnn_multi30k() -> AlignmentAssistedRnnHParams:
    """`rnn_attention_multi30k` with biased attention."""
    return with_biased_attention(rnn_attention_multi30k())


@hparams.register
def alignment_assisted_rnn_demo() -> AlignmentAssistedRnnHParams:
    """`rnn_attention_demo` with biased attention."""
    return with_biased_attention(rnn_attention_demo())


@hparams.register
def alignment_model_rnn_base() -> AlignmentModelRnnHParams:
    """The recurrent alignment model with the sizes and the recipe of `rnn_attention_base`."""
    return with_recurrent_jumps(rnn_attention_base())


@hparams.register
def alignment_model_rnn_multi30k() -> AlignmentModelRnnHParams:
    """The recurrent alignment model with the sizes and recipe of `rnn_attention_multi30k`."""
    return with_recurrent_jumps(rnn_attention_multi30k())


@hparams.register
def alignment_model_rnn_demo() -> AlignmentModelRnnHParams:
    """The recurrent alignment model with the sizes and the recipe of `rnn_attention_demo`."""
    return with_recurrent_jumps(rnn_attention_demo())
