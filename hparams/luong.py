"""Luong et al. (2015): the rows of their Table 1 at the paper's size, and at smaller sizes.

Each row adds to the row before it, except that local attention takes the place of global attention.
The sets for unknown-word replacement train the same model as the row before them: translate with
`replace_unknown=true` from a run of either. An ensemble combines several runs.
"""

from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.registry import hparams

from .muon import by_muon

# Updates in an epoch of WMT'14 (4.5 million pairs) with `batch_size=4096`: as many as with batches
# of 128 pairs.
_EPOCH = 35_000
# Likewise for the 29,000 pairs of Multi30k in subwords.
_MULTI30K_EPOCH = 122


def _backwards(base: LuongHParams) -> LuongHParams:
    return base.replace(encoder_reads="backwards")


def _global_location(base: LuongHParams) -> LuongHParams:
    return base.replace(
        attention="global", attention_score="location", attention_positions=base.max_length
    )


def _local_p_general(base: LuongHParams) -> LuongHParams:
    return base.replace(
        attention="local_p", attention_score="general", attention_window=10, attention_positions=0
    )


def _multi30k_size(base: LuongHParams) -> LuongHParams:
    return base.replace(hidden_size=256, num_hidden_layers=2, max_length=64, length_bucket_step=1.2)


@hparams.register
def luong_base() -> LuongHParams:
    """No attention: 4 + 4 LSTM layers of size 1000. 214M with 50,000 words a side.

    SGD at rate 1, halved after 5 epochs of WMT'14 and then every epoch, for 10 epochs (350,000
    updates); the gradient is a mean over sentences and is rescaled where its norm exceeds 5; all
    weights start uniform between -0.1 and 0.1.
    """
    return LuongHParams(
        batch_size=4096,
        max_length=51,  # 50 words and EOS
        label_smoothing=0.0,
        optimizer="sgd",
        learning_rate_schedule="constant*halving",
        learning_rate_constant=1.0,
        learning_rate_halving_start=5 * _EPOCH,
        learning_rate_halving_steps=_EPOCH,
        clip_grad_norm=5.0,
        gradient_mean="sentences",
    )


@hparams.register
def luong_base_reverse() -> LuongHParams:
    """`luong_base` with an encoder that reads backwards."""
    return _backwards(luong_base())


@hparams.register
def luong_base_dropout() -> LuongHParams:
    """`luong_base_reverse` with dropout 0.2; the rate is halved after 8 epochs, 12 in all."""
    return luong_base_reverse().replace(dropout=0.2, learning_rate_halving_start=8 * _EPOCH)


@hparams.register
def luong_base_global_location() -> LuongHParams:
    """`luong_base_dropout` with global attention and location-based scores."""
    return _global_location(luong_base_dropout())


@hparams.register
def luong_base_feed() -> LuongHParams:
    """`luong_base_global_location` with input feeding."""
    return luong_base_global_location().replace(input_feeding=True)


@hparams.register
def luong_base_local_p_general_feed() -> LuongHParams:
    """`luong_base_feed` with general scores and local-p attention, 10 positions each way."""
    return _local_p_general(luong_base_feed())


@hparams.register
def luong_base_unk_replace() -> LuongHParams:
    """`luong_base_local_p_general_feed`; decode with `replace_unknown=true`."""
    return luong_base_local_p_general_feed()


@hparams.register
def luong_base_local_p_general_feed_adam() -> LuongHParams:
    """`luong_base_local_p_general_feed` with Adam at rate 0.0005 instead of SGD, same schedule."""
    return luong_base_local_p_general_feed().replace(
        optimizer="adam",
        optimizer_adam_beta2=0.999,
        optimizer_adam_epsilon=1e-8,
        learning_rate_constant=0.0005,
    )


@hparams.register
def luong_base_bidirectional() -> LuongHParams:
    """`luong_base_dropout`, bidirectional, with global attention, general scores, input feeding."""
    return luong_base_dropout().replace(
        encoder_reads="both", attention="global", attention_score="general", input_feeding=True
    )


@hparams.register
def luong_multi30k() -> LuongHParams:
    """No attention, for 29,000 sentences: 2 + 2 LSTM layers of size 256; 1000 updates with Muon."""
    return by_muon(
        _multi30k_size(luong_base()),
        learning_rate=0.01,
        train_steps=1000,
        batch_size=2048,
        learning_rate_halving_start=0,
        learning_rate_halving_steps=0,
        gradient_mean="tokens",
    )


@hparams.register
def luong_reverse_multi30k() -> LuongHParams:
    """`luong_multi30k` with an encoder that reads backwards."""
    return _backwards(luong_multi30k())


@hparams.register
def luong_dropout_multi30k() -> LuongHParams:
    """`luong_reverse_multi30k` with dropout 0.3."""
    return luong_reverse_multi30k().replace(dropout=0.3)


@hparams.register
def luong_global_location_multi30k() -> LuongHParams:
    """`luong_dropout_multi30k` with global attention and location-based scores."""
    return _global_location(luong_dropout_multi30k())


@hparams.register
def luong_feed_multi30k() -> LuongHParams:
    """`luong_global_location_multi30k` with input feeding."""
    return luong_global_location_multi30k().replace(input_feeding=True)


@hparams.register
def luong_local_p_general_feed_multi30k() -> LuongHParams:
    """`luong_feed_multi30k` with general scores and local-p attention, 10 positions each way."""
    return _local_p_general(luong_feed_multi30k())


@hparams.register
def luong_unk_replace_multi30k() -> LuongHParams:
    """`luong_local_p_general_feed_multi30k`; decode with `replace_unknown=true`."""
    return luong_local_p_general_feed_multi30k()


@hparams.register
def luong_local_p_general_feed_sgd_multi30k() -> LuongHParams:
    """`luong_local_p_general_feed_multi30k` by the paper's recipe.

    SGD; the rate is halved after 8 epochs of 122 updates, 12 in all.
    """
    return _multi30k_size(luong_base_local_p_general_feed()).replace(
        dropout=0.3,
        learning_rate_halving_start=8 * _MULTI30K_EPOCH,
        learning_rate_halving_steps=_MULTI30K_EPOCH,
    )


@hparams.register
def luong_demo() -> LuongHParams:
    """No attention, for `translate_ende_grammar`: 1000 updates with Muon, on two CPU cores."""
    return luong_multi30k().replace(hidden_size=128)


@hparams.register
def luong_reverse_demo() -> LuongHParams:
    """`luong_demo` with an encoder that reads backwards."""
    return _backwards(luong_demo())


@hparams.register
def luong_dropout_demo() -> LuongHParams:
    """`luong_reverse_demo` with dropout 0.1."""
    return luong_reverse_demo().replace(dropout=0.1)


@hparams.register
def luong_global_location_demo() -> LuongHParams:
    """`luong_dropout_demo` with global attention and location-based scores."""
    return _global_location(luong_dropout_demo())


@hparams.register
def luong_feed_demo() -> LuongHParams:
    """`luong_global_location_demo` with input feeding."""
    return luong_global_location_demo().replace(input_feeding=True)


@hparams.register
def luong_local_p_general_feed_demo() -> LuongHParams:
    """`luong_feed_demo` with general scores and local-p attention, 5 positions each way."""
    return _local_p_general(luong_feed_demo()).replace(attention_window=5)


@hparams.register
def luong_unk_replace_demo() -> LuongHParams:
    """`luong_local_p_general_feed_demo`; decode with `replace_unknown=true`."""
    return luong_local_p_general_feed_demo()
