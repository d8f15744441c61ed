"""The Transformer as the papers write it: one sentence at a time, in loops of float64 arithmetic.

It knows no padding, no batch and no mask: what a position may not see is not there. Equations are
those of Vaswani et al. (2017) and, for distances, of Shaw et al. (2018).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

Rows = list[np.ndarray]


def softmax(logits: Sequence[float]) -> np.ndarray:
    """Return exp(z_i) / sum_j exp(z_j)."""
    top = max(logits)
    exponentials = np.array([math.exp(z - top) for z in logits])
    return exponentials / exponentials.sum()


def layer_norm(x: np.ndarray, scale: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """Return x moved to mean 0 and variance 1, then scaled and shifted."""
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    return (x - mean) / math.sqrt(variance + 1e-6) * scale + offset


def timing(position: int, width: int) -> np.ndarray:
    """Return tensor2tensor's signal: all sines, then all cosines."""
    count = width // 2
    rates = [1e4 ** (-i / max(count - 1, 1)) for i in range(count)]
    sines = [math.sin(position * rate) for rate in rates]
    return np.array(sines + [math.cos(position * rate) for rate in rates] + [0.0] * (width % 2))


def smoothed_loss(logits: np.ndarray, label: int, smoothing: float) -> float:
    """Return the cross-entropy with the smoothed target minus that target's entropy."""
    vocab_size = len(logits)
    target = np.full(vocab_size, smoothing / (vocab_size - 1))
    target[label] = 1.0 - smoothing
    top = logits.max()
    log_probs = logits - top - math.log(np.exp(logits - top).sum())
    entropy = -sum(p * math.log(p) for p in target if p > 0)
    return float(-(target * log_probs).sum() - entropy)


def attend(
    queries: Rows,
    memory: Rows,
    kernels: Mapping[str, np.ndarray],
    *,
    num_heads: int,
    causal: bool = False,
    limit: int = 0,
) -> Rows:
    """Return multi-head attention of every query: Section 3.2.2; Shaw's Eq. (3), (4) if `limit`.

    Args:
        queries: T vectors (D,).
        memory: S vectors (D,).
        kernels: "query", "key", "value", "output", and "relative_key", "relative_value" if `limit`.
        num_heads: H.
        causal: query i sees memory positions up to i only.
        limit: the distance beyond which all look alike; 0 = distances do not count.
    """
    width = len(queries[0]) // num_heads
    outputs = []
    for i, query in enumerate(queries):
        visible = [j for j in range(len(memory)) if j <= i or not causal]
        heads = []
        for head in range(num_heads):
            own = slice(head * width, (head + 1) * width)
            q = query @ kernels["query"][:, own]
            logits, values = [], []
            for j in visible:
                k = memory[j] @ kernels["key"][:, own]
                v = memory[j] @ kernels["value"][:, own]
                if limit:
                    row = max(-limit, min(limit, j - i)) + limit
                    k = k + kernels["relative_key"][row]
                    v = v + kernels["relative_value"][row]
                logits.append(float(q @ k) / math.sqrt(width))
                values.append(v)
            weights = softmax(logits) if visible else ()
            heads.append(
                sum((w * v for w, v in zip(weights, values, strict=True)), np.zeros(width))
            )
        outputs.append(np.concatenate(heads) @ kernels["output"])
    return outputs


@dataclasses.dataclass(frozen=True)
class ReferenceTransformer:
    """A Transformer given by its weights.

    Args:
        weights: by path without the model's name ("encoder_layer_0/self_attention/query/kernel").
        num_heads: H.
        norm: "pre" or "post".
        timing: whether positions are added.
        limit: distance told apart in self-attention; 0 = none.
        target_space: row of the target-space embedding.
    """

    weights: Mapping[str, np.ndarray]
    num_heads: int
    norm: str = "pre"
    timing: bool = True
    limit: int = 0
    target_space: int = 0

    def logits(self, source: Sequence[int], target: Sequence[int]) -> np.ndarray:
        """Return (T, V): row i is what follows the first i target tokens."""
        memory = self.encode(source)
        # The decoder reads the target one step late, after a vector of zeros.
        x = [np.zeros(self._width), *(self._embed("target_embedding", t) for t in target[:-1])]
        x = self._add_timing(x)
        for layer in range(self._depth("decoder")):
            path = f"decoder_layer_{layer}"
            x = self._sublayer(x, path, "self_attention", lambda y, p: self._self(y, p, True))
            x = self._sublayer(
                x, path, "cross_attention", lambda y, p: self._attend(y, memory, p, False, 0)
            )
            x = self._sublayer(x, path, "feed_forward", self._feed_forward)
        x = self._final(x, "decoder_norm")
        softmax_kernel = self.weights.get(
            "softmax/embeddings", self.weights["embedding/embeddings"]
        )
        return np.array([[float(h @ row) for row in softmax_kernel] for h in x])

    def encode(self, source: Sequence[int]) -> Rows:
        """Return the S vectors of the memory."""
        space = self.weights["target_space/embeddings"][self.target_space]
        x = self._add_timing([self._embed("embedding", token) + space for token in source])
        for layer in range(self._depth("encoder")):
            path = f"encoder_layer_{layer}"
            x = self._sublayer(x, path, "self_attention", lambda y, p: self._self(y, p, False))
            x = self._sublayer(x, path, "feed_forward", self._feed_forward)
        return self._final(x, "encoder_norm")

    def step_log_probs(self, source: Sequence[int], prefix: Sequence[int]) -> np.ndarray:
        """Return the log-probabilities (V,) of the token after `prefix`."""
        last = self.logits(source, [*prefix, 0])[-1]
        return last - last.max() - math.log(np.exp(last - last.max()).sum())

    @property
    def _width(self) -> int:
        return self.weights["embedding/embeddings"].shape[1]

    def _depth(self, stack: str) -> int:
        return len({p.split("/")[0] for p in self.weights if p.startswith(f"{stack}_layer_")})

    def _embed(self, table: str, token: int) -> np.ndarray:
        rows = self.weights.get(f"{table}/embeddings", self.weights["embedding/embeddings"])
        return rows[token] * math.sqrt(self._width) if token else np.zeros(self._width)

    def _add_timing(self, x: Rows) -> Rows:
        if not self.timing:
            return x
        return [row + timing(position, self._width) for position, row in enumerate(x)]

    def _sublayer(
        self, x: Rows, layer: str, name: str, function: Callable[[Rows, str], Rows]
    ) -> Rows:
        norm = f"{layer}/{name}_residual/norm"
        path = f"{layer}/{name}"
        if self.norm == "pre":
            outputs = function([self._normed(row, norm) for row in x], path)
            return [row + output for row, output in zip(x, outputs, strict=True)]
        outputs = function(x, path)
        return [self._normed(row + out, norm) for row, out in zip(x, outputs, strict=True)]

    def _final(self, x: Rows, name: str) -> Rows:
        return [self._normed(row, name) for row in x] if self.norm == "pre" else x

    def _normed(self, row: np.ndarray, path: str) -> np.ndarray:
        return layer_norm(row, self.weights[f"{path}/gamma"], self.weights[f"{path}/beta"])

    def _self(self, x: Rows, path: str, causal: bool) -> Rows:
        return self._attend(x, x, path, causal, self.limit)

    def _attend(self, x: Rows, memory: Rows, path: str, causal: bool, limit: int) -> Rows:
        names = ["query", "key", "value", "output"]
        kernels = {name: self.weights[f"{path}/{name}/kernel"] for name in names}
        if limit:
            for name in ("relative_key", "relative_value"):
                kernels[name] = self.weights[f"{path}/{name}"]
        return attend(x, memory, kernels, num_heads=self.num_heads, causal=causal, limit=limit)

    def _feed_forward(self, x: Rows, path: str) -> Rows:
        inner, outer = (
            (self.weights[f"{path}/{name}/kernel"], self.weights[f"{path}/{name}/bias"])
            for name in ("inner", "outer")
        )
        return [np.maximum(row @ inner[0] + inner[1], 0.0) @ outer[0] + outer[1] for row in x]
