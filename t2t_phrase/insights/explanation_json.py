"""Explanations as compact JSON values.

A weight is a whole number of thousandths, as pages print it. All matrices of a layer are one
string: the low bytes of their numbers, then the high bytes, compressed by zlib, in base64.

Shapes: R rows, C columns.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from t2t_phrase.insights.explanation import Explanation, Layer, Map, Matrix
from t2t_phrase.insights.heat_map import Group

THOUSANDTHS = 1000


def explanation_to_json(found: Explanation, *, bound: int) -> dict[str, Any]:
    """Return an explanation as JSON values.

    If the strings of its matrices have more than `bound` characters together, single heads are
    left out; if the rest still has more, the largest maps are left out too. "left_out" lists the
    omissions, and "means" of a map tells whether its heads are among them.

    Args:
        found: the explanation.
        bound: number of characters.
    """
    groups = _Groups()
    maps = [_map(each, groups) for each in found.maps]
    left_out = []
    if _size(maps) > bound:
        left_out.append("single heads (means over heads are shown)")
        maps = [
            {**_map(_without_heads(each), groups), "means": _has_heads(each)} for each in found.maps
        ]
    while _size(maps) > bound:
        largest = max(maps, key=lambda one: _size([one]))
        left_out.append(largest["title"])
        maps.remove(largest)
    return {
        "source": found.source,
        "target": found.target,
        "is_own": found.is_own,
        "source_tokens": [[token.text, token.continues] for token in found.source_tokens],
        "target_tokens": [[token.text, token.continues] for token in found.target_tokens],
        # For words that are all but certain, three digits would not be enough.
        "log_probabilities": [round(float(x), 4) for x in found.log_probabilities],
        "predicts_jumps": found.predicts_jumps,
        "candidates": [[each.text, round(each.score, 4)] for each in found.candidates],
        "aligned": list(found.aligned),
        "partitions": [
            [name, [list(segment) for segment in segments]]
            for name, segments in found.partitions.items()
        ],
        "groups": groups.values,
        "maps": maps,
        "left_out": left_out,
        "notes": list(found.notes),
    }


def thousandths(values: Any) -> np.ndarray:
    """Return weights as whole thousandths, uint16, rounded as `f"{weight:.3f}"` is."""
    return np.rint(np.asarray(values, "float64") * THOUSANDTHS).astype("uint16")


def packed(numbers: np.ndarray) -> str:
    """Return uint16 numbers as a string, see the module."""
    low, high = numbers.ravel() & 0xFF, numbers.ravel() >> 8
    content = np.concatenate([low, high]).astype("uint8").tobytes()
    return base64.b64encode(zlib.compress(content, 9)).decode()


class _Groups:
    """The distinct groups of all matrices: most layers have the same rows and columns."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []
        self._numbers: dict[Any, int] = {}

    def number(self, group: Group, text: str) -> int:
        """Return the number of a group of tokens in a text; a new group gets the next one."""
        key = (group.kind, text, tuple(group.labels), tuple(group.spans))
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            spans = [place for span in group.spans for place in span]
            self.values.append({"kind": group.kind, "labels": list(group.labels), "spans": spans})
        return self._numbers[key]


def _size(maps: Sequence[dict[str, Any]]) -> int:
    return sum(len(layer["data"]) for one in maps for layer in one["layers"])


def _has_heads(found: Map) -> bool:
    return any(matrix.head is not None for layer in found.layers for matrix in layer.matrices)


def _without_heads(found: Map) -> Map:
    layers = [
        Layer(
            [matrix for matrix in layer.matrices if matrix.head is None],
            layer.windows,
            layer.pruned,
            layer.chosen,
        )
        for layer in found.layers
    ]
    return Map(found.name, found.title, found.rows, found.columns, layers)


def _map(found: Map, groups: _Groups) -> dict[str, Any]:
    return {
        "name": found.name,
        "title": found.title,
        "rows": found.rows,
        "columns": found.columns,
        "layers": [_layer(layer, found, groups) for layer in found.layers],
    }


def _layer(layer: Layer, found: Map, groups: _Groups) -> dict[str, Any]:
    numbers = [thousandths(np.block([list(row) for row in m.blocks])) for m in layer.matrices]
    value: dict[str, Any] = {
        "matrices": [_matrix(matrix, found, groups) for matrix in layer.matrices],
        "data": packed(
            np.concatenate([own.ravel() for own in numbers]) if numbers else np.zeros(0, "uint16")
        ),
    }
    if layer.windows is not None:
        value["windows"] = {
            "centre": np.asarray(layer.windows.centre).tolist(),
            "aligned": [round(float(place), 3) for place in layer.windows.aligned],
            "radius": layer.windows.radius,
            "deviation": layer.windows.deviation,
        }
    if layer.pruned is not None:
        value["pruned"] = packed(layer.pruned.astype("uint16"))
    if layer.chosen is not None:
        value["chosen"] = layer.chosen.tolist()
    return value


def _matrix(matrix: Matrix, found: Map, groups: _Groups) -> dict[str, Any]:
    return {
        "head": matrix.head,
        "rows": [groups.number(group, found.rows) for group in matrix.rows],
        "columns": [groups.number(group, found.columns) for group in matrix.columns],
    }
