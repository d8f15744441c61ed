"""`SET_post`: sets for Multi30k with the defaults of fairseq.

```
t2t-phrase-trainer --hparams_set=transformer_multi30k_post --train_steps=8000 ...
```

Post-norm, dropout on residual connections only, and queries, keys and values of half the initial
variance. Wu et al. (2021), arXiv 2105.14462, train with fairseq: 8,192 tokens an update, average of
10 checkpoints, 41.02 BLEU. See RESULTS.md for `transformer_multi30k_post`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.registry import hparams

from . import (
    alignment,
    multi_granularity,
    phrase_heterogeneous,
    phrase_homogeneous,
    phrase_interleaved,
    phrase_representation,
    transformer,
)

T = TypeVar("T", bound=TransformerHParams)

_SETS = (
    transformer.transformer_multi30k,
    transformer.transformer_multi30k_6l,
    transformer.transformer_multi30k_wide,
    phrase_heterogeneous.phrase_heterogeneous_convkv_1_2_multi30k,
    phrase_interleaved.phrase_interleaved_convkv_1_2_multi30k,
    phrase_interleaved.phrase_interleaved_queryk_1_2_multi30k,
    phrase_homogeneous.phrase_homogeneous_queryk_2_2_multi30k,
    phrase_representation.phrase_representation_max_attn_ta_multi30k,
    phrase_representation.phrase_representation_parse_multi30k,
    multi_granularity.mgsa_ngram_san_multi30k,
    multi_granularity.mgsa_syntax_tag_onlstm_multi30k,
    alignment.alignment_assisted_multi30k,
)


def like_fairseq(base: T) -> T:
    """Return `base` with the norm, the dropouts and the initial attention of fairseq."""
    return base.replace(
        norm="post", attention_dropout=0.0, relu_dropout=0.0, attention_initializer_gain=0.5
    )


def _register(make: Callable[[], TransformerHParams]) -> None:
    def hparams_set() -> TransformerHParams:
        return like_fairseq(make())

    name = make.__name__
    hparams_set.__doc__ = f"`{name}` with post-norm, dropouts and initial attention like fairseq."
    hparams.register_as(f"{name}_post")(hparams_set)


for _set in _SETS:
    _register(_set)
