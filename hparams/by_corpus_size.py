"""Sets by corpus size: `FAMILY_3k`, `_10k`, `_30k`, `_100k` and `_1m` for each model family.

```
t2t-phrase-trainer --hparams_set=transformer_30k --train_steps=8000 ...
```

The suffix is the number of sentence pairs; see `t2t_phrase.corpus_sizes` for bounds and updates.
Sets for 30k pairs have the recipe of `transformer_multi30k_post` with pre-norm, with which
models learn faster (RESULTS.md); the others, and Luong's, are trained with Muon.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from t2t_phrase.corpus_sizes import SIZES, CorpusSize, corpus_size
from t2t_phrase.models.alignment_assisted import with_alignment_heads
from t2t_phrase.models.alignment_model import with_jumps
from t2t_phrase.models.multi_granularity_hparams import with_granularities
from t2t_phrase.models.phrase_representation import with_phrase_representation
from t2t_phrase.models.phrase_transformer import with_phrase_attention
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.registry import hparams
from t2t_phrase.training_hparams import TrainingHParams

from .luong import luong_local_p_general_feed_multi30k
from .multi30k_post import like_fairseq
from .muon import by_muon
from .transformer import transformer_base, transformer_multi30k

_SMALL = ("3k", "10k", "30k")
_SMALLEST = dict(num_hidden_layers=3, hidden_size=128, filter_size=512, dropout=0.3)
# Sizes and regularisation by corpus size, for Muon.
_SHAPES: dict[str, dict[str, Any]] = {
    "3k": _SMALLEST,
    "10k": _SMALLEST,
    "30k": dict(num_hidden_layers=3, hidden_size=256, filter_size=512, dropout=0.3),
    "100k": dict(num_hidden_layers=5, hidden_size=384, filter_size=1024, dropout=0.2),
    "1m": dict(num_hidden_layers=6, hidden_size=512, filter_size=2048, dropout=0.1),
}
_BATCHES = {"3k": 1024, "10k": 1024, "30k": 4096, "100k": 4096, "1m": 8192}
# Updates of sets that overfit long before the others of their size (docs/results/alignments.md,
# docs/results/rnn.md).
_FEWER_UPDATES = {"alignment_model_30k": 2000, "luong_local_p_general_feed_30k": 3000}


def _transformer(size: CorpusSize) -> TransformerHParams:
    if size.name == "30k":
        return like_fairseq(transformer_multi30k()).replace(norm="pre", max_length=100)
    return _transformer_by_muon(size, train_steps=size.train_steps)


def _transformer_by_muon(size: CorpusSize, *, train_steps: int) -> TransformerHParams:
    shape = dict(_SHAPES[size.name])
    dropout = shape.pop("dropout")
    base = transformer_base().replace(
        **shape,
        num_heads=_heads(size),
        attention_dropout=min(dropout, 0.1),
        relu_dropout=min(dropout, 0.1),
        layer_prepostprocess_dropout=dropout,
        max_length=100 if size.name in _SMALL else 200,
        length_bucket_step=1.2,
    )
    return by_muon(
        base, learning_rate=0.01, train_steps=train_steps, batch_size=_BATCHES[size.name]
    )


def _deep(size: CorpusSize) -> TransformerHParams:
    base = _transformer(size)
    return base.replace(num_hidden_layers=2 * base.num_hidden_layers)


def _wide(size: CorpusSize) -> TransformerHParams:
    base = _transformer(size)
    # An encoder and a decoder layer have two FFNs of 2 D F weights; QueryK adds 34 D D to the pair.
    return base.replace(filter_size=base.filter_size + 17 * base.hidden_size // 2)


def _updates(family: str, size: CorpusSize) -> int:
    return _FEWER_UPDATES.get(f"{family}_{size.name}", size.train_steps)


def _heads(size: CorpusSize) -> int:
    return 4 if size.name in _SMALL else 8


def _luong(size: CorpusSize) -> TrainingHParams:
    shape = _SHAPES[size.name]
    base = luong_local_p_general_feed_multi30k().replace(
        hidden_size=shape["hidden_size"], dropout=shape["dropout"], max_length=100
    )
    if size.name == "30k":
        base = base.replace(dropout=0.5, label_smoothing=0.1)
    return by_muon(
        base,
        learning_rate=0.01,
        train_steps=_updates("luong_local_p_general_feed", size),
        batch_size=_BATCHES[size.name],
    )


# For each family, the name of its sets, the function that makes one, and their description.
_FAMILIES: dict[str, tuple[Callable[[CorpusSize], TrainingHParams], str]] = {
    "transformer": (_transformer, "The Transformer"),
    "transformer_deep": (_deep, "Twice the layers, about as large as interleaved ConvKV"),
    "transformer_wide": (_wide, "A wider FFN, as large as interleaved QueryK"),
    "phrase_interleaved_convkv_1_2": (
        lambda size: with_phrase_attention(_transformer(size), "interleaved_convkv"),
        "ConvKV from and to tokens and bigrams",
    ),
    "phrase_interleaved_queryk_1_2": (
        lambda size: with_phrase_attention(_transformer(size), "interleaved_queryk"),
        "QueryK from and to tokens and bigrams",
    ),
    "phrase_heterogeneous_convkv_1_2": (
        lambda size: with_phrase_attention(_transformer(size), "heterogeneous_convkv"),
        "ConvKV to tokens and bigrams",
    ),
    "phrase_homogeneous_queryk_2_2": (
        lambda size: with_phrase_attention(
            _transformer(size),
            "homogeneous_queryk",
            phrase_head_counts=(_heads(size) // 2, _heads(size) // 2),
        ),
        "QueryK, half of the heads to tokens, half to bigrams",
    ),
    "phrase_representation_max_attn_ta": (
        lambda size: with_phrase_representation(_transformer(size)),
        "Source phrases by attentive pooling, transparent attention",
    ),
    "mgsa_ngram_san": (
        lambda size: with_granularities(_transformer(size), composition="attention"),
        "Heads that attend to 2-, 3- and 4-grams",
    ),
    "alignment_assisted": (
        lambda size: with_alignment_heads(_transformer(size)),
        "The Transformer with alignment heads",
    ),
    "alignment_model": (
        lambda size: with_jumps(_transformer(size)),
        "The model of jumps that translates with alignment heads",
    ),
    "luong_local_p_general_feed": (_luong, "LSTMs with local attention and input feeding"),
}


@hparams.register
def transformer_30k_muon() -> TransformerHParams:
    """The Transformer for about 30k pairs and 3,000 updates, `transformer_30k` of version 0.1.0."""
    return _transformer_by_muon(corpus_size(30_000), train_steps=3000)


def _register(name: str, size: CorpusSize) -> None:
    make, title = _FAMILIES[name]

    def hparams_set() -> TrainingHParams:
        return make(size)

    updates = _updates(name, size)
    hparams_set.__doc__ = f"{title}, for about {size.name} pairs and {updates:,} updates."
    hparams.register_as(f"{name}_{size.name}")(hparams_set)


for _name in _FAMILIES:
    for _size in SIZES:
        _register(_name, _size)
