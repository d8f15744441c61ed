"""What models say of their attention weights agrees with the weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from t2t_phrase.layers.attention.layout import TOKENS, Layout, Units
from t2t_phrase.models.multi_granularity import MultiGranularityTransformer
from t2t_phrase.models.multi_granularity_hparams import MultiGranularityHParams
from t2t_phrase.models.phrase_representation import (
    PhraseRepresentationHParams,
    PhraseRepresentationTransformer,
)
from t2t_phrase.models.phrase_transformer import PhraseHParams, PhraseTransformer
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams

HEADS = 5
SIZES: dict[str, Any] = {
    "hidden_size": 10,
    "filter_size": 4,
    "num_heads": HEADS,
    "num_encoder_layers": 2,
    "num_decoder_layers": 1,
}
FEATURES = {"inputs": np.array([[3, 4, 5, 1]]), "targets": np.array([[5, 6, 1]])}
ONE, TWO, THREE = map(Units, (1, 2, 3))
PHRASES = Units(partition="phrases")


def check_shapes(model: Any) -> None:
    """Compare the shapes of all weights with the numbers of rows and columns."""
    lengths = {"source": 4, "target": 3, "earlier target": 3}
    counts = {name: rows.shape[1] for name, rows in model.partitions(FEATURES).items()}
    maps, weights = model.attention_maps(), model.attention_weights(FEATURES)
    assert set(maps) == set(weights)
    for name, attention in maps.items():
        for layout, layer_weights in zip(attention.layouts, weights[name], strict=True):
            rows, columns = (
                sum(counts.get(units.partition, lengths[text]) for units in side)
                for side, text in (
                    (layout.rows, attention.rows),
                    (layout.columns, attention.columns),
                )
            )
            heads = (layout.num_heads,) if layout.num_heads else ()
            assert layer_weights.shape == (1, *heads, rows, columns), name


def test_a_transformer_attends_to_tokens() -> None:
    for limit in (0, 2):
        hparams = TransformerHParams(**SIZES, max_relative_position=limit)
        model = Transformer.from_hparams(hparams, vocab_size=8)
        check_shapes(model)
        maps = model.attention_maps()
        assert {name: found.layouts for name, found in maps.items()} == {
            "encoder": (Layout(HEADS),) * 2,
            "decoder": (Layout(HEADS),),
            "cross": (Layout(HEADS),),
        }
        assert [(found.rows, found.columns) for found in maps.values()] == [
            ("source", "source"),
            ("target", "earlier target"),
            ("target", "source"),
        ]
        assert model.partitions(FEATURES) == {}


def test_layouts_are_those_of_the_layers() -> None:
    hparams = PhraseHParams(
        **SIZES,
        encoder_attention="interleaved_convkv",
        encoder_orders=(1, 3),
        decoder_attention="homogeneous_queryk",
        decoder_orders=(1, 2),
        decoder_head_counts=(2, 3),
        cross_attention="heterogeneous_queryk",
        cross_orders=(2, 3),
    )
    model = PhraseTransformer.from_hparams(hparams, vocab_size=8)
    check_shapes(model)
    assert {name: found.layouts for name, found in model.attention_maps().items()} == {
        "encoder": (Layout(HEADS, (ONE, THREE), (ONE, THREE)),) * 2,
        "decoder": (Layout(HEADS, columns_by_head=(ONE, ONE, TWO, TWO, TWO), reaches_back=True),),
        "cross": (Layout(HEADS, columns=(TWO, THREE)),),
    }


def test_source_phrases_are_a_partition() -> None:
    model = PhraseRepresentationTransformer.from_hparams(
        PhraseRepresentationHParams(**SIZES), vocab_size=8
    )
    check_shapes(model)
    maps = model.attention_maps()
    assert maps["encoder_phrases"].layouts == (Layout(HEADS, columns=(PHRASES,)),) * 2
    assert maps["decoder_phrases"].layouts == (Layout(HEADS, columns=(PHRASES,)),)
    assert maps["pooling"].layouts == (Layout(0, rows=(PHRASES,), columns=(TOKENS,)),) * 3
    assert (maps["decoder_phrases"].rows, maps["decoder_phrases"].columns) == ("target", "source")
    kinds = {kind for found in maps.values() for layout in found.layouts for kind in layout.columns}
    assert all(kind.order == 1 for kind in kinds)
    assert np.asarray(model.partitions(FEATURES)["phrases"])[0].tolist() == [
        [True, True, True, False],
        [False, False, False, True],
    ]


def test_granularities_belong_to_heads_of_some_layers() -> None:
    hparams = MultiGranularityHParams(
        **SIZES, granularities=("tokens", "ngram_2"), granularity_layers=(2,)
    )
    model = MultiGranularityTransformer.from_hparams(hparams, vocab_size=8)
    first, second = model.attention_maps()["encoder"].layouts
    pairs = Units(partition="ngram_2")
    assert first == Layout(HEADS)
    assert second == Layout(HEADS, columns_by_head=(ONE, ONE, ONE, pairs, pairs))
    weights = model.attention_weights(FEATURES)["encoder"]
    assert [layer.shape for layer in weights] == [(1, HEADS, 4, 4)] * 2
    assert np.asarray(model.partitions(FEATURES)["ngram_2"])[0].tolist() == [
        [True, True, False, False],
        [False, False, True, True],
    ]
