"""The Transformer: the sets of tensor2tensor, and our own for small corpora."""

from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.registry import hparams

from .muon import by_muon


@hparams.register
def transformer_base_v1() -> TransformerHParams:
    """Vaswani et al. (2017), base: post-norm, dropout on the residual connections only."""
    return TransformerHParams(
        norm="post",
        attention_dropout=0.0,
        relu_dropout=0.0,
        optimizer_adam_beta2=0.98,
        learning_rate_constant=1.0,
        learning_rate_warmup_steps=4000,
    )


@hparams.register
def transformer_base_v2() -> TransformerHParams:
    """v1 with pre-norm, three kinds of dropout and twice the learning rate."""
    return transformer_base_v1().replace(
        norm="pre",
        attention_dropout=0.1,
        relu_dropout=0.1,
        learning_rate_constant=2.0,
        learning_rate_warmup_steps=8000,
    )


@hparams.register
def transformer_base() -> TransformerHParams:
    """tensor2tensor's default, v3: v2 with beta2 = 0.997 in Adam. 63.0M with 37,000 subwords."""
    return TransformerHParams()


@hparams.register
def transformer_base_v3() -> TransformerHParams:
    """Another name for `transformer_base`."""
    return transformer_base()


@hparams.register
def transformer_big() -> TransformerHParams:
    """Vaswani et al. (2017), big. 214M with 37,000 subwords."""
    return transformer_base().replace(
        hidden_size=1024,
        filter_size=4096,
        num_heads=16,
        batch_size=2048,
        layer_prepostprocess_dropout=0.3,
    )


@hparams.register
def transformer_base_single_gpu() -> TransformerHParams:
    """Base for one GPU: a quarter of the batch size, learning rate independent of D."""
    return transformer_base().replace(
        batch_size=1024,
        learning_rate_schedule="constant*linear_warmup*rsqrt_decay",
        learning_rate_constant=0.1,
        learning_rate_warmup_steps=16000,
    )


@hparams.register
def transformer_big_single_gpu() -> TransformerHParams:
    """Big for one GPU."""
    return transformer_big().replace(
        layer_prepostprocess_dropout=0.1, learning_rate_warmup_steps=16000
    )


@hparams.register
def transformer_tiny() -> TransformerHParams:
    """Two layers of size 128, for experiments."""
    return transformer_base().replace(
        num_hidden_layers=2, hidden_size=128, filter_size=512, num_heads=4
    )


@hparams.register
def transformer_small() -> TransformerHParams:
    """Two layers of size 256."""
    return transformer_base().replace(
        num_hidden_layers=2, hidden_size=256, filter_size=1024, num_heads=4
    )


@hparams.register
def transformer_relative() -> TransformerHParams:
    """Shaw et al. (2018): relative positions, clipped at 20, instead of absolute ones."""
    return transformer_base().replace(pos="none", max_relative_position=20)


@hparams.register
def transformer_base_10l() -> TransformerHParams:
    """Ten layers: the baseline of equal size in Table 2 of Nguyen and Joty (2018). 92.3M."""
    return transformer_base_paper().replace(num_hidden_layers=10)


@hparams.register
def transformer_base_paper() -> TransformerHParams:
    """The common recipe of all models in Nguyen and Joty (2018), Section 4.1.

    Learning rate $2 D^-1/2 min(s^-1/2, s 16000^-3/2)$, Adam (0.9, 0.98, 1e-9), batches of 4096
    tokens, 500,000 steps; average of the last 5 checkpoints, 10,000 steps apart; beam size 5,
    alpha 0.6.
    """
    return transformer_base().replace(optimizer_adam_beta2=0.98, learning_rate_warmup_steps=16000)


@hparams.register
def transformer_base_untied() -> TransformerHParams:
    """The baseline of Xu et al. (2020), Section 4.1, and its recipe. 88.1M.

    Source and target have separate embeddings. Learning rate $D^-1/2 min(s^-1/2, s 8000^-3/2)$,
    Adam (0.9, 0.98, 1e-9), 100,000 steps of 25,000 target tokens; average of the last 5
    checkpoints, 1500 steps apart; beam size 4. `batch_size` is for each replica: use 6 replicas for
    25,000 tokens, or --hparams=effective_batch_size=24576 on 1, 2, 3 or 6.
    """
    return transformer_base().replace(
        share_source_embedding=False,
        optimizer_adam_beta2=0.98,
        learning_rate_constant=1.0,
        learning_rate_warmup_steps=8000,
    )


@hparams.register
def transformer_big_untied() -> TransformerHParams:
    """`transformer_base_untied` with the sizes and the dropout of `transformer_big`. 264M.

    300,000 steps of 25,000 target tokens, on 12 replicas; average of the last 20 checkpoints.
    """
    big = transformer_big()
    return transformer_base_untied().replace(
        hidden_size=big.hidden_size,
        filter_size=big.filter_size,
        num_heads=big.num_heads,
        batch_size=big.batch_size,
        layer_prepostprocess_dropout=big.layer_prepostprocess_dropout,
    )


@hparams.register
def transformer_multi30k() -> TransformerHParams:
    """4 + 4 layers of size 128 for 29,000 sentences, after Wu et al. (2021), arXiv 2105.14462.

    Learning rate up to 0.005 at step 2000, 8000 updates, average of the last checkpoints, beam
    size 5.
    """
    return transformer_base().replace(
        num_hidden_layers=4,
        hidden_size=128,
        filter_size=256,
        num_heads=4,
        attention_dropout=0.3,
        relu_dropout=0.3,
        layer_prepostprocess_dropout=0.3,
        optimizer_adam_beta2=0.98,
        learning_rate_schedule="constant*linear_warmup*rsqrt_decay",
        learning_rate_constant=0.2236,  # 0.005 * sqrt(2000)
        learning_rate_warmup_steps=2000,
        max_length=64,
        length_bucket_step=1.2,
    )


@hparams.register
def transformer_multi30k_6l() -> TransformerHParams:
    """A deeper `transformer_multi30k`, 3.26M: equal-size baseline of heterogeneous sets (3.39M)."""
    return transformer_multi30k().replace(num_hidden_layers=6)


@hparams.register
def transformer_multi30k_wide() -> TransformerHParams:
    """A wider `transformer_multi30k`, 4.70M: equal-size baseline of interleaved QueryK (4.83M)."""
    return transformer_multi30k().replace(filter_size=1280)


@hparams.register
def transformer_multi30k_muon() -> TransformerHParams:
    """2 + 2 layers of size 256, 1000 updates with Muon, to compare with `luong_*_multi30k`.

    With 8,000 words a side it has as many parameters (8.8M) as
    `luong_local_p_general_feed_multi30k`.
    """
    base = transformer_multi30k().replace(
        num_hidden_layers=2,
        hidden_size=256,
        filter_size=512,
        attention_dropout=0.1,
        relu_dropout=0.1,
        layer_prepostprocess_dropout=0.1,
        shared_embedding_and_softmax_weights=False,
    )
    return by_muon(base, learning_rate=0.01, train_steps=1000, batch_size=2048)


@hparams.register
def transformer_demo() -> TransformerHParams:
    """For `translate_ende_grammar`: 1500 updates, a few minutes on two CPU cores.

    There is no dropout, since such a short training run hardly repeats any data.
    """
    return transformer_base().replace(
        num_hidden_layers=2,
        hidden_size=128,
        filter_size=512,
        num_heads=4,
        attention_dropout=0.0,
        relu_dropout=0.0,
        layer_prepostprocess_dropout=0.0,
        optimizer_adam_beta2=0.98,
        learning_rate_schedule="constant*linear_warmup*linear_decay",
        learning_rate_constant=0.003,
        learning_rate_warmup_steps=200,
        learning_rate_decay_steps=1300,
        batch_size=2048,
        max_length=64,
        length_bucket_step=1.2,
    )


@hparams.register
def transformer_demo_muon() -> TransformerHParams:
    """`transformer_demo` with Muon instead of Adam, for 800 updates."""
    return by_muon(transformer_demo(), learning_rate=0.014, train_steps=800)
