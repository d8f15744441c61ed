"""Source phrase representations as Xu et al. (2020) write them: one sentence, loops of float64.

It knows no padding, no batch and no mask. A phrase is a list of positions.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from reference_transformer import ReferenceTransformer, Rows, attend, softmax

Phrases = list[list[int]]


def cut(tokens: int, length: int) -> Phrases:
    """Return phrases of `length` positions; the last holds what remains."""
    phrases: Phrases = [[]]
    for position in range(tokens):
        if len(phrases[-1]) == length:
            phrases.append([])
        phrases[-1].append(position)
    return phrases


def cut_by_length(tokens: int) -> Phrases:
    """Return the phrases of footnote 2."""
    return cut(tokens, max(min(8, tokens // 6), 3))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.array([1.0 / (1.0 + math.exp(-value)) for value in x])


def glance(rows: Rows, kind: str) -> np.ndarray:
    """Return Eq. (2)."""
    columns = zip(*rows, strict=True)
    if kind == "max":
        return np.array([max(column) for column in columns])
    return np.array([sum(column) / len(column) for column in columns])


def attentive(rows: Rows, kind: str, weights: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return Eq. (2) to (5) of one phrase.

    Args:
        rows: vectors (D,) of its tokens.
        kind: "max" or "mean".
        weights: "token/kernel" and "glance/kernel", the halves of W_1; "token/bias";
            "score/kernel", W_2.
    """
    everything = glance(rows, kind)
    w1 = np.concatenate([weights["token/kernel"], weights["glance/kernel"]])
    scores = [
        float(
            sigmoid(np.concatenate([row, everything]) @ w1 + weights["token/bias"])
            @ weights["score/kernel"][:, 0]
        )
        for row in rows
    ]
    return sum(p * row for p, row in zip(softmax(scores), rows, strict=True))


def combine(x: Rows, phrases: Rows, weights: Mapping[str, np.ndarray], num_heads: int) -> Rows:
    """Return Eq. (7) and (8).

    Args:
        x: vectors (D,) of the tokens.
        phrases: vectors (D,) of the phrases.
        weights: those of `attend` after "attention/" and before "/kernel"; "token/kernel" and
            "phrase/kernel", the halves of W_3; "token/bias"; "outer/kernel"; "outer/bias", which is
            b_4 and what W_4 makes of a vector of halves.
        num_heads: H.
    """
    kernels = {
        name: weights[f"attention/{name}/kernel"] for name in ("query", "key", "value", "output")
    }
    found = attend(x, phrases, kernels, num_heads=num_heads)
    w3 = np.concatenate([weights["token/kernel"], weights["phrase/kernel"]])
    b4 = weights["outer/bias"] - np.full(len(w3[0]), 0.5) @ weights["outer/kernel"]
    return [
        sigmoid(np.concatenate([row, out]) @ w3 + weights["token/bias"]) @ weights["outer/kernel"]
        + b4
        for row, out in zip(x, found, strict=True)
    ]


def transparent(memories: list[Rows], logits: np.ndarray) -> Rows:
    """Return Eq. (6) for one decoder layer, whose weights before the softmax are `logits`."""
    return [
        sum(w * memory[p] for w, memory in zip(softmax(logits), memories, strict=True))
        for p in range(len(memories[0]))
    ]


@dataclasses.dataclass(frozen=True)
class ReferencePhraseRepresentation(ReferenceTransformer):
    """The whole model, given by its weights.

    Args:
        kind: of the glance, "max" or "mean".
        phrases_of: the phrases of a sentence of so many tokens.
    """

    kind: str = "max"
    phrases_of: Callable[[int], Phrases] = cut_by_length

    def logits(self, source: Sequence[int], target: Sequence[int]) -> np.ndarray:
        """Return (T, V): row i is what follows the first i target tokens."""
        memory, memories = self.encode_with_phrases(source)
        x = [np.zeros(self._width), *(self._embed("target_embedding", t) for t in target[:-1])]
        x = self._add_timing(x)
        for layer in range(self._depth("decoder")):
            path = f"decoder_layer_{layer}"
            phrases = memories[-1]
            if "transparent_attention/weights" in self.weights:
                weights = self.weights["transparent_attention/weights"]
                phrases = transparent(memories, weights[layer])
            x = self._sublayer(x, path, "self_attention", lambda y, p: self._self(y, p, True))
            x = self._look_up(x, path, phrases)
            x = self._sublayer(
                x, path, "cross_attention", lambda y, p: self._attend(y, memory, p, False, 0)
            )
            x = self._sublayer(x, path, "feed_forward", self._feed_forward)
        x = self._final(x, "decoder_norm")
        for table in ("softmax", "target_embedding", "embedding"):
            if f"{table}/embeddings" in self.weights:
                kernel = self.weights[f"{table}/embeddings"]
                break
        return np.array([[float(h @ row) for row in kernel] for h in x])

    def encode_with_phrases(self, source: Sequence[int]) -> tuple[Rows, list[Rows]]:
        """Return the encoder's output and the phrases of all layers."""
        space = self.weights["target_space/embeddings"][self.target_space]
        x = self._add_timing([self._embed("embedding", token) + space for token in source])
        memories = []
        for layer in range(self._depth("encoder")):
            path = f"encoder_layer_{layer}"
            read = x
            if self.norm == "pre":
                read = [self._normed(row, f"{path}/phrase_residual/norm") for row in x]
            memories.append(self._pool(read, f"{path}/phrase_pooling"))
            x = self._look_up(x, path, memories[-1])
            x = self._sublayer(x, path, "self_attention", lambda y, p: self._self(y, p, False))
            x = self._sublayer(x, path, "feed_forward", self._feed_forward)
        x = self._final(x, "encoder_norm")
        return x, [*memories, self._pool(x, "memory_pooling")]

    def _pool(self, x: Rows, path: str) -> Rows:
        weights = self._under(path)
        return [
            attentive(rows, self.kind, weights) if weights else glance(rows, self.kind)
            for rows in ([x[i] for i in phrase] for phrase in self.phrases_of(len(x)))
        ]

    def _look_up(self, x: Rows, path: str, phrases: Rows) -> Rows:
        weights = self._under(f"{path}/phrase_combination")
        return self._sublayer(
            x, path, "phrase", lambda y, _: combine(y, phrases, weights, self.num_heads)
        )

    def _under(self, path: str) -> dict[str, np.ndarray]:
        return {
            name.removeprefix(f"{path}/"): value
            for name, value in self.weights.items()
            if name.startswith(f"{path}/")
        }
