"""Small models of every kind of phrase attention, for tests of what all models owe."""

from __future__ import annotations

import functools

from t2t_phrase import registry
from t2t_phrase.models.multi_granularity_hparams import MultiGranularityHParams, with_granularities
from t2t_phrase.models.phrase_representation import with_phrase_representation
from t2t_phrase.models.phrase_transformer import PhraseHParams, with_phrase_attention
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
PLAIN = TransformerHParams()
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
    for kind in registry.attentions
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
LABELLED_LEVELS = with_granularities(
    SMALL,
    granularities=LEVELS_OF_TREES.granularities,
    granularity_layers=(1,),
    interaction="lstm",
    composition="max",
    tag_loss_weight=0.5,
)
PARSED = with_phrase_representation(SMALL, phrases="parsed")


@functools.cache
def small_set(name: str) -> MultiGranularityHParams:
    """Return a registered set of multi-granularity self-attention with the sizes of `SMALL`."""
    hparams = registry.hparams[name]()
    assert isinstance(hparams, MultiGranularityHParams)
    sizes = {key: value for key, value in vars(SMALL).items() if value != vars(PLAIN)[key]}
    layers = max(hparams.granularity_layers)
    if hparams.interaction == "on_lstm":
        sizes["on_lstm_chunk_size"] = 2
    return hparams.replace(**sizes, num_encoder_layers=layers)


@functools.cache
def granularity_sets() -> list[str]:
    """Return all registered sets of multi-granularity self-attention."""
    registry.discover()
    names = registry.hparams
    return [name for name in names if isinstance(names[name](), MultiGranularityHParams)]


@functools.cache
def granularity_structures() -> list[str]:
    """Return one set for each structure: those that are equal at the same sizes are given once."""

    def structure(name: str) -> tuple[object, ...]:
        fields = vars(small_set(name)).items()
        return tuple(value for key, value in fields if key not in vars(PLAIN))

    return list({structure(name): name for name in granularity_sets()}.values())
