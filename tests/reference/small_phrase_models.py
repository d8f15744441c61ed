"""Small models of every kind of phrase attention, for tests of what all models owe."""

from __future__ import annotations

from t2t_phrase.models.multi_granularity_hparams import with_granularities
from t2t_phrase.models.phrase_representation import with_phrase_representation
from t2t_phrase.models.phrase_transformer import LAYERS, PhraseHParams, with_phrase_attention
from t2t_phrase.models.transformer_hparams import TransformerHParams

SMALL = TransformerHParams(
    hidden_size=16,
    filter_size=16,
    num_heads=4,
    num_hidden_layers=1,
    attention_dropout=0.0,
    relu_dropout=0.0,
    layer_prepostprocess_dropout=0.0,
)
# Between them, the first two hold all six kinds.
MIXED: dict[str, PhraseHParams] = {
    "mixed": PhraseHParams(
        **vars(SMALL),
        encoder_attention="interleaved_queryk",
        encoder_orders=(1, 2, 3),
        decoder_attention="homogeneous_convkv",
        decoder_head_counts=(3, 1),
        cross_attention="heterogeneous_queryk",
        cross_orders=(1, 3),
        share_key_projection=False,
    ),
    "mixed_with_distances": PhraseHParams(
        **{**vars(SMALL), "max_relative_position": 3, "pos": "none"},
        encoder_attention="homogeneous_queryk",
        encoder_head_counts=(2, 2),
        decoder_attention="heterogeneous_convkv",
        cross_attention="interleaved_convkv",
    ),
    "decoder_alone": PhraseHParams(
        **vars(SMALL),
        encoder_attention="none",
        decoder_attention="interleaved_queryk",
        decoder_orders=(1, 2),
        cross_attention="none",
    ),
}
KINDS = {
    kind: with_phrase_attention(
        SMALL,
        kind,  # type: ignore[arg-type]
        phrase_orders=(1, 2, 3),
        phrase_head_counts=(1, 2, 1) if kind.startswith("homogeneous") else (),
    )
    for kind in LAYERS
}
# Of source phrases, once alone and once beside phrase attention.
REPRESENTATIONS = {
    "representation": with_phrase_representation(SMALL, norm="post"),
    "representation_and_attention": with_phrase_representation(
        SMALL, cross_attention="interleaved_queryk", attentive_pooling=False
    ),
}
GRANULARITIES = with_granularities(SMALL, interaction="on_lstm", on_lstm_chunk_size=2)
LEVELS_OF_TREES = GRANULARITIES.replace(
    granularities=("tokens", "level_1", "level_2", "level_3"), granularity_layers=(1,)
)
PARSED = with_phrase_representation(SMALL, phrases="parsed")
