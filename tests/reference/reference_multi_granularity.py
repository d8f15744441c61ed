"""Multi-granularity self-attention as Hao et al. (2019) write it: one sentence, loops of float64.

It knows no padding, no batch and no mask. A segment is a list of positions.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from reference_transformer import ReferenceTransformer, Rows, softmax

Segments = list[list[int]]
Weights = Mapping[str, np.ndarray]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def cumax(values: Sequence[float]) -> list[float]:
    """Return the cumulative sums of the softmax: Shen et al. (2019), Eq. (7)."""
    shares, total = softmax(values), 0.0
    sums = []
    for share in shares:
        total += float(share)
        sums.append(total)
    return sums


def lstm(inputs: Rows, weights: Weights) -> Rows:
    """Return the outputs of an LSTM.

    Args:
        inputs: vectors (W,).
        weights: "kernel" (W, 4W), "recurrent" (W, 4W), "bias" (4W,): input gate, forget gate,
            candidate, output gate.
    """
    width = len(inputs[0])
    h, c, outputs = np.zeros(width), np.zeros(width), []
    for x in inputs:
        gates = x @ weights["kernel"] + weights["bias"] + h @ weights["recurrent"]
        for u in range(width):
            i, f, g = (gates[block * width + u] for block in range(3))
            c[u] = sigmoid(f) * c[u] + sigmoid(i) * math.tanh(g)
        h = np.array([sigmoid(gates[3 * width + u]) * math.tanh(c[u]) for u in range(width)])
        outputs.append(h)
    return outputs


def on_lstm(inputs: Rows, weights: Weights, chunk_size: int) -> Rows:
    """Return the outputs of an ordered-neurons LSTM: Shen et al. (2019), Eq. (1) to (14).

    Args:
        inputs: vectors (W,).
        weights: as for `lstm`, with the master forget gate and the master input gate, W / C values
            each, before the four gates.
        chunk_size: C.
    """
    width = len(inputs[0])
    chunks = width // chunk_size
    h, c, outputs = np.zeros(width), np.zeros(width), []
    for x in inputs:
        gates = x @ weights["kernel"] + weights["bias"] + h @ weights["recurrent"]
        master_forget = cumax(gates[:chunks])
        master_input = [1 - value for value in cumax(gates[chunks : 2 * chunks])]
        rest = gates[2 * chunks :]
        new = np.zeros(width)
        for u in range(width):
            i, f, g = (rest[block * width + u] for block in range(3))
            forget, write = master_forget[u // chunk_size], master_input[u // chunk_size]
            overlap = forget * write
            kept = sigmoid(f) * overlap + (forget - overlap)
            written = sigmoid(i) * overlap + (write - overlap)
            new[u] = kept * c[u] + written * math.tanh(g)
        c = new
        h = np.array([sigmoid(rest[3 * width + u]) * math.tanh(c[u]) for u in range(width)])
        outputs.append(h)
    return outputs


def recurrence_weights(weights: Weights, path: str, head: int) -> dict[str, np.ndarray]:
    """Return those of one head of a `HeadLSTM` or `HeadONLSTM`."""
    return {
        "kernel": weights[f"{path}/input/kernel"][head],
        "recurrent": weights[f"{path}/recurrent_kernel"][head],
        "bias": weights[f"{path}/bias"][head],
    }


def compose(rows: Rows, kind: str, weights: Weights, head: int) -> np.ndarray:
    """Return COM(p_m), Eq. (8): the vector of a segment of the tokens `rows`, each (W,)."""
    largest = np.array([max(column) for column in zip(*rows, strict=True)])
    if kind == "max":
        return largest
    if kind == "lstm":
        return lstm(rows, recurrence_weights(weights, "composition/lstm", head))[-1]
    maps = {name: weights[f"composition/{name}/kernel"][head] for name in ("query", "key", "value")}
    query = largest @ maps["query"]
    scores = [float(query @ (row @ maps["key"])) / math.sqrt(len(row)) for row in rows]
    return sum(p * (row @ maps["value"]) for p, row in zip(softmax(scores), rows, strict=True))


def interact(segments: Rows, kind: str, weights: Weights, head: int, chunk_size: int) -> Rows:
    """Return REC(G_x), Eq. (11)."""
    if kind == "none":
        return segments
    own = recurrence_weights(weights, "interaction", head)
    return lstm(segments, own) if kind == "lstm" else on_lstm(segments, own, chunk_size)


def attend(
    x: Rows,
    weights: Weights,
    heads: Sequence[str],
    segments_of: Mapping[str, Segments],
    *,
    composition: str,
    interaction: str,
    chunk_size: int,
) -> Rows:
    """Return the self-attention, Eq. (4) to (7).

    Args:
        x: vectors (D,) of the tokens.
        weights: of the layer.
        heads: the partition of each head, or "tokens".
        segments_of: the segments of each partition.
        composition, interaction, chunk_size: as in the hyperparameters.
    """
    width = len(x[0]) // len(heads)
    outputs = [np.zeros(0) for _ in x]
    of_kind = {"tokens": 0, "segments": 0}
    for head, name in enumerate(heads):
        kind = "tokens" if name == "tokens" else "segments"
        number = of_kind[kind]
        of_kind[kind] += 1
        own = slice(number * width, (number + 1) * width)
        if kind == "tokens":
            keys = [row @ weights["key/kernel"][:, own] for row in x]
            values = [row @ weights["value/kernel"][:, own] for row in x]
        else:
            seen = [row @ weights["segment/kernel"][:, own] for row in x]
            composed = [
                compose([seen[i] for i in segment], composition, weights, number)
                for segment in segments_of[name]
            ]
            memory = interact(composed, interaction, weights, number, chunk_size)
            keys = [row @ weights["segment_key/kernel"][number] for row in memory]
            values = [row @ weights["segment_value/kernel"][number] for row in memory]
        for i, row in enumerate(x):
            query = row @ weights["query/kernel"][:, head * width : (head + 1) * width]
            shares = softmax([float(query @ key) / math.sqrt(width) for key in keys])
            context = sum(share * value for share, value in zip(shares, values, strict=True))
            outputs[i] = np.concatenate([outputs[i], context])
    return [row @ weights["output/kernel"] for row in outputs]


@dataclasses.dataclass(frozen=True)
class ReferenceMultiGranularity(ReferenceTransformer):
    """The whole model, given by its weights.

    Args:
        heads: the partition of each head, or "tokens".
        layers: encoder layers with granularities, from 1.
        segments_of: gives the segments of a sentence of so many tokens in each partition.
        composition, interaction, chunk_size: as in the hyperparameters.
    """

    heads: tuple[str, ...] = ()
    layers: tuple[int, ...] = (1,)
    segments_of: Callable[[int], Mapping[str, Segments]] = lambda tokens: {}
    composition: str = "attention"
    interaction: str = "none"
    chunk_size: int = 1

    def _self(self, x: Rows, path: str, causal: bool) -> Rows:
        layer = path.partition("/")[0].removeprefix("encoder_layer_")
        if causal or not layer.isdigit() or int(layer) + 1 not in self.layers:
            return super()._self(x, path, causal)
        start = f"{path}/"
        weights = {k.removeprefix(start): v for k, v in self.weights.items() if k.startswith(start)}
        return attend(
            x,
            weights,
            self.heads,
            self.segments_of(len(x)),
            composition=self.composition,
            interaction=self.interaction,
            chunk_size=self.chunk_size,
        )
