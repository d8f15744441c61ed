"""Lexical and alignment model of Alkhouli et al. (2018), in loops of float64 arithmetic."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
from reference_transformer import ReferenceTransformer, Rows, softmax

MOST_JUMP = 100


def attend_with_alignment(
    queries: Rows,
    memory: Rows,
    alignment: Sequence[int],
    kernels: Mapping[str, np.ndarray],
    head: Mapping[str, np.ndarray],
    *,
    num_heads: int,
) -> Rows:
    """Return multi-head attention with one head more, of one-hot weights, before one output map.

    Args:
        queries: T vectors (D,).
        memory: S vectors (D,).
        alignment: for each query the position where the weight is 1.
        kernels: "query", "key", "value" and "output" of the H heads.
        head: "value" (D, d_k) and "output" (d_k, D) of the alignment head.
        num_heads: H.
    """
    width = len(queries[0]) // num_heads
    output_map = np.concatenate([kernels["output"], head["output"]])  # ((H + 1) d_k, D)
    outputs = []
    for query, place in zip(queries, alignment, strict=True):
        heads = []
        for number in range(num_heads):
            own = slice(number * width, (number + 1) * width)
            q = query @ kernels["query"][:, own]
            logits = [float(q @ (m @ kernels["key"][:, own])) / math.sqrt(width) for m in memory]
            values = [m @ kernels["value"][:, own] for m in memory]
            heads.append(sum(w * v for w, v in zip(softmax(logits), values, strict=True)))
        one_hot = [1.0 if j == place else 0.0 for j in range(len(memory))]
        values = [m @ head["value"] for m in memory]
        heads.append(sum(w * v for w, v in zip(one_hot, values, strict=True)))
        outputs.append(np.concatenate(heads) @ output_map)
    return outputs


@dataclasses.dataclass(frozen=True)
class ReferenceLexicalModel(ReferenceTransformer):
    """The alignment-assisted Transformer; `alignment` is that of the target."""

    alignment: Sequence[int] = ()

    def _attend(self, x: Rows, memory: Rows, path: str, causal: bool, limit: int) -> Rows:
        if not path.endswith("/cross_attention"):
            return super()._attend(x, memory, path, causal, limit)
        kernels = {
            name: self.weights[f"{path}/{name}/kernel"]
            for name in ("query", "key", "value", "output")
        }
        beside = path.replace("cross_attention", "alignment_head")
        head = {name: self.weights[f"{beside}/{name}/kernel"] for name in ("value", "output")}
        return attend_with_alignment(
            x, memory, self.alignment, kernels, head, num_heads=self.num_heads
        )


@dataclasses.dataclass(frozen=True)
class ReferenceAlignmentModel(ReferenceTransformer):
    """The alignment model."""

    def jump_log_probs(
        self, source: Sequence[int], target: Sequence[int], alignment: Sequence[int]
    ) -> np.ndarray:
        """Return (T, 201): row i is log p(a_i - a_{i-1}) given all before i.

        The last of `target` and of `alignment` are not read.
        """
        memory = self.encode(source)
        x = [np.zeros(self._width), *(self._embed("target_embedding", t) for t in target[:-1])]
        x = self._add_timing(x)
        for layer in range(self._depth("decoder")):
            path = f"decoder_layer_{layer}"
            x = self._sublayer(x, path, "self_attention", lambda y, p: self._self(y, p, True))
            x = self._sublayer(x, path, "feed_forward", self._feed_forward)
        rows = []
        for i, state in enumerate(self._final(x, "decoder_norm")):
            total = state + memory[alignment[i - 1]] if i else state
            rows.append(np.log(softmax(list(total @ self.weights["jump/kernel"]))))
        return np.array(rows)

    def position_log_prob(self, jumps: np.ndarray, previous: int, place: int) -> float:
        """Return the log-probability of a jump, by (201,) of one row; `previous` -1: the first."""
        jump = max(-MOST_JUMP, min(MOST_JUMP, place - previous))
        return float(jumps[jump + MOST_JUMP])
