"""Turns a model's weights and exhibits into the matrices of an explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.decoding.search.alignment_pruning import surviving_positions
from t2t_phrase.insights.explanation import Layer, Map, Matrix
from t2t_phrase.insights.heat_map import Group
from t2t_phrase.insights.labels import Token, kind_of, ngram_labels
from t2t_phrase.insights.pictures import blocks_of_head
from t2t_phrase.insights.windows import of_sentence
from t2t_phrase.layers.attention.layout import TOKENS, AttentionMap, Layout
from t2t_phrase.models.exhibit import Exhibit

# The tokens of each text, see `layout.Text`.
Texts = Mapping[str, Sequence[Token]]


def attention_maps(
    model: Any,
    features: Mapping[str, Any],
    weights: Mapping[str, Sequence[Any]],
    texts: Texts,
    partitions: Mapping[str, np.ndarray],
) -> Iterator[Map]:
    """Yield the attentions of a model in one sentence pair.

    A layer whose n-grams are all longer than the sentence has no matrices.

    Args:
        model: an `EncoderDecoder`.
        features: of the pair, without padding.
        weights: from `model.attention_weights`.
        texts: of the pair.
        partitions: by name, (P, S) bool: the source tokens in each segment.
    """
    windows = model.attention_windows(features)
    for name, found in model.attention_maps().items():
        layers = []
        own = windows.get(name, [None] * len(found.layouts))
        for values, layout, read in zip(weights[name], found.layouts, own, strict=True):
            matrices = tuple(
                _matrices(np.asarray(values)[0], layout, found, texts, partitions),
            )
            layers.append(Layer(matrices, None if read is None else of_sentence(read, 0)))
        yield Map(name, found.title, found.rows, found.columns, layers)


def _matrices(
    weights: np.ndarray,
    layout: Layout,
    found: AttentionMap,
    texts: Texts,
    partitions: Mapping[str, np.ndarray],
) -> Iterator[Matrix]:
    # A single head is its own mean.
    for head in (None, *(range(layout.num_heads) if layout.num_heads > 1 else ())):
        try:
            blocks, rows, columns = blocks_of_head(
                weights, layout, head, texts[found.rows], texts[found.columns], partitions
            )
        except UserError:
            # The sentence has no such n-grams.
            continue
        yield Matrix(head, blocks, rows, columns)


def exhibit_maps(
    exhibits: Mapping[str, Exhibit], texts: Texts, *, threshold: float
) -> Iterator[Map]:
    """Yield the exhibits of a model in one sentence pair.

    Args:
        exhibits: from `model.exhibits`.
        texts: of the pair.
        threshold: positions less likely than this are pruned, see `alignment_threshold`.
    """
    for name, exhibit in exhibits.items():
        values = np.asarray(exhibit.values)
        rows, columns = _group(exhibit.rows, texts), _group(exhibit.columns, texts)
        pruned = None
        if exhibit.pruned:
            with np.errstate(divide="ignore"):
                real = np.ones((1, values.shape[2]), bool)
                kept = surviving_positions(np.log(values[:1]), real, threshold)
            pruned = ~np.asarray(kept)[0]
        chosen = None if exhibit.chosen is None else np.asarray(exhibit.chosen)[0]
        matrix = Matrix(None, [[values[0]]], [rows], [columns])
        layer = Layer([matrix], None, pruned, chosen)
        yield Map(name, exhibit.title, _text(exhibit.rows), _text(exhibit.columns), [layer])


def _text(side: str | tuple[str, ...]) -> str:
    return side if isinstance(side, str) else ""


def _group(side: str | tuple[str, ...], texts: Texts) -> Group:
    if not isinstance(side, str):
        return Group("", side)
    tokens = texts[side]
    return Group(
        kind_of(TOKENS), ngram_labels(tokens, 1), [(place, place) for place in range(len(tokens))]
    )
