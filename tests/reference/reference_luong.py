"""Luong's attention and decoder by loops of float64 arithmetic, one sentence at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import reference_lstm

Vector = Sequence[float]
Weights = Mapping[str, np.ndarray]


def dot(a: Vector, b: Vector) -> float:
    return float(sum(x * y for x, y in zip(a, b, strict=True)))


def times(a: Vector, matrix: np.ndarray) -> list[float]:
    """Return the row vector a times a matrix."""
    return [dot(a, column) for column in np.asarray(matrix).T]


def score(
    kind: str,
    query: Vector,
    memory: Sequence[Vector],
    s: int,
    weights: Weights,
    aligned: int | None = None,
) -> float:
    """Return the score of position s, of which only those that can be attended to are asked.

    The score "concat" is biased at the position `aligned`.
    """
    if kind == "dot":
        return dot(query, memory[s])
    if kind == "general":
        return sum(
            query[i] * weights["score/kernel"][i][j] * memory[s][j]
            for i in range(len(query))
            for j in range(len(memory[s]))
        )
    if kind == "concat":
        matrix = np.concatenate([weights["score/query"], weights["score/key"]])
        inner = times([*query, *memory[s]], matrix)
        if s == aligned:
            inner = [x + float(bias) for x, bias in zip(inner, weights["bias"], strict=True)]
        return dot(weights["score/vector"], [math.tanh(x) for x in inner])
    return times(query, weights["score/kernel"])[s]


def softmax(values: Vector) -> list[float]:
    powers = [math.exp(value - max(values)) for value in values]
    return [power / sum(powers) for power in powers]


def attend(
    query: Vector,
    memory: Sequence[Vector],
    weights: Weights,
    *,
    kind: str,
    attention: str,
    window: int = 0,
    positions: int = 0,
    t: int = 0,
    alignment: Sequence[int] | None = None,
) -> tuple[list[float], list[float]]:
    """Return the attentional vector, and the weights of all positions of a sentence.

    Args:
        query: h_t.
        memory: the encoder states of the tokens of the sentence.
        weights: by name.
        kind: of the score.
        attention: "global", "local_m" or "local_p".
        window: D.
        positions: how many have location scores.
        t: of the query.
        alignment: the position that each query is aligned with, for biased attention.
    """
    biased = None if alignment is None else alignment[t]
    length = len(memory)
    aligned = 0.0
    if attention == "global":
        readable = list(range(min(length, positions) if kind == "location" else length))
    else:
        if attention == "local_m":
            aligned = min(t, length - 1)
        else:
            inner = [math.tanh(x) for x in times(query, weights["position_kernel"])]
            logit = dot(inner, weights["position_vector"][:, 0])
            aligned = length * reference_lstm.sigmoid(logit)
        centre = min(math.floor(aligned + 0.5), length - 1)
        readable = [s for s in range(length) if centre - window <= s <= centre + window]
    found = softmax([score(kind, query, memory, s, weights, biased) for s in readable])
    everywhere = [0.0] * length
    for s, weight in zip(readable, found, strict=True):
        shape = 1.0
        if attention == "local_p":
            deviation = window / 2
            shape = math.exp(-((s - aligned) ** 2) / (2 * deviation**2))
        everywhere[s] = weight * shape
    context = [
        sum(everywhere[s] * memory[s][d] for s in range(length)) for d in range(len(memory[0]))
    ]
    combined = times([*context, *query], weights["combine/kernel"])
    return [math.tanh(x) for x in combined], everywhere


def decode(
    inputs: Sequence[Vector],
    memory: Sequence[Vector],
    layers: Sequence[Weights],
    weights: Weights,
    *,
    state: Sequence[tuple[Vector, Vector]],
    feeding: bool,
    **options: Any,
) -> tuple[list[list[float]], list[list[float]]]:
    """Return h~ and the attention weights of every time step.

    Args:
        inputs: x_t.
        memory: see `attend`.
        layers: the weights of each LSTM layer, see `reference_lstm.run`.
        weights: those of the attention.
        state: h and c of each layer before the first step.
        feeding: whether the lowest layer reads [x_t; h~_{t-1}].
        **options: of `attend`.
    """
    states = list(state)
    fed: Vector = [0.0] * len(layers[0]["recurrent_kernel"])
    vectors, attended = [], []
    for t, x in enumerate(inputs):
        below: Vector = [*x, *fed] if feeding else x
        for number, layer in enumerate(layers):
            outputs, states[number] = reference_lstm.run([below], layer, state=states[number])
            below = outputs[0]
        fed, everywhere = attend(below, memory, weights, t=t, **options)
        vectors.append(list(fed))
        attended.append(everywhere)
    return vectors, attended
