"""Phrase attention as Nguyen and Joty (2018) write it: one sentence, loops of float64 arithmetic.

It knows no padding, no batch and no mask: what a query may not see is not there. Kernels are named
and laid out as the layers' variables: (n, D, D') each; the columns of a query kernel stand by order
of the memory, then head, and for QueryK then place in the phrase.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
from reference_transformer import Rows, softmax


def conv(x: Rows, kernel: np.ndarray, j: int) -> np.ndarray:
    """Return Conv_n(X, W)_j, Eq. (4), of the phrase that ends at j, zeros before the sentence."""
    order = len(kernel)
    total = np.zeros(kernel.shape[2])
    for t in range(order):
        place = j - order + 1 + t
        if place >= 0:
            total = total + x[place] @ kernel[t]
    return total


@dataclasses.dataclass(frozen=True)
class NgramAttention:
    """One attention; `attend` returns its output.

    Args:
        method: "convkv" or "queryk".
        structure: "homogeneous", "heterogeneous" or "interleaved".
        kernels: by name.
        num_heads: H.
        orders: of the phrases.
        head_counts: homogeneous only, heads of each order.
        look_ahead: interleaved only, the encoder's output.
        limit: the distance of Shaw et al. beyond which all look alike; 0 = distances do not count.
    """

    method: str
    structure: str
    kernels: Mapping[str, np.ndarray]
    num_heads: int
    orders: Sequence[int]
    head_counts: Sequence[int] = ()
    look_ahead: bool = False
    limit: int = 0

    def attend(self, queries: Rows, memory: Rows, *, causal: bool = False) -> Rows:
        """Return the outputs for T queries (D,) and S memory positions (D,)."""
        query_orders = self.orders if self.structure == "interleaved" else [1]
        attended: dict[int, list[np.ndarray | None]] = {m: [] for m in query_orders}
        for m in query_orders:
            for i in range(len(queries)):
                visible = [j for j in range(len(memory)) if j <= i or not causal]
                row = conv(queries, self.kernels[f"query_{m}"], i)
                heads = [self._head(h, row, i, memory, visible) for h in range(self.num_heads)]
                attended[m].append(np.concatenate(heads) if i >= m - 1 else None)
        kernel = self.kernels["output"]
        if self.structure != "interleaved":
            return [row @ kernel[0] for row in attended[1]]
        if list(self.orders) == [1, 2]:
            return self._interleave(attended[1], attended[2][1:], kernel)
        return self._combine(attended, kernel)

    def _head(self, h: int, row: np.ndarray, i: int, memory: Rows, visible: list[int]) -> Rows:
        """Return what one head makes of the query row at i."""
        logits, values = [], []
        for n, local, n_heads in self._orders_of(h):
            for j in visible:
                if self.structure != "homogeneous" and j < n - 1:
                    continue
                key_offset, value_offset = self._distance_vectors(n, i, j)
                logits.append(self._logit(n, local, h, row, memory, j, key_offset))
                width = self.kernels[f"value_{n}"].shape[2] // n_heads
                own = slice(local * width, (local + 1) * width)
                values.append(conv(memory, self.kernels[f"value_{n}"][:, :, own], j) + value_offset)
        if not logits:
            return np.zeros(self.kernels["output"].shape[2] // self.num_heads)
        weights = softmax(logits)
        return sum(w * v for w, v in zip(weights, values, strict=True))

    def _orders_of(self, h: int) -> list[tuple[int, int, int]]:
        """Return (order, number among that order's heads, how many these are) for head h."""
        if self.structure != "homogeneous":
            return [(n, h, self.num_heads) for n in self.orders]
        first = 0
        for n, count in zip(self.orders, self.head_counts, strict=True):
            if h < first + count:
                return [(n, h - first, count)]
            first += count
        raise AssertionError

    def _distance_vectors(self, n: int, i: int, j: int) -> tuple[np.ndarray, np.ndarray] | tuple:
        if not self.limit:
            return 0.0, 0.0
        place = list(self.orders).index(n)
        clipped = max(-self.limit, min(self.limit, j - i)) + self.limit
        tables = (self.kernels[f"distances/{name}_{place}"] for name in ("key", "value"))
        return tuple(table[clipped] for table in tables)

    def _logit(self, n, local, h, row, memory, j, offset) -> float:
        width = self.kernels["output"].shape[2] // self.num_heads  # d_k
        if self.method == "convkv":
            count = self.kernels[f"key_{n}"].shape[2] // width
            assert local < count
            own = slice(local * width, (local + 1) * width)
            key = conv(memory, self.kernels[f"key_{n}"][:, :, own], j) + offset
            return row[h * width : (h + 1) * width] @ key / math.sqrt(width)
        first = 0  # where the columns of order n begin
        for place, other in enumerate(self.orders):
            if other == n:
                break
            heads = self.head_counts[place] if self.head_counts else self.num_heads
            first += heads * other * width
        kernel = self.kernels["key" if "key" in self.kernels else f"key_{n}"]
        columns = slice(h * width, (h + 1) * width)
        total = 0.0
        for t in range(n):
            begin = first + (local * n + t) * width
            query = row[begin : begin + width]
            place = j - n + 1 + t
            key = memory[place] @ kernel[0][:, columns] if place >= 0 else np.zeros(width)
            if self.limit:
                key = key + offset[t * width : (t + 1) * width]
            total += query @ key
        return total / math.sqrt(width * n)

    def _interleave(self, unigrams: Rows, bigrams: Rows, kernel: np.ndarray) -> Rows:
        """Return Eq. (13) to (17): the long sequence, convolved with stride 2."""
        zero = np.zeros(kernel.shape[1])
        sequence = [zero, unigrams[0]]
        for bigram, unigram in zip(bigrams, unigrams[1:], strict=True):
            sequence += [bigram, unigram]
        if self.look_ahead:
            sequence.append(zero)
        window = 3 if self.look_ahead else 2
        assert len(kernel) == window
        return [
            sum(sequence[start + t] @ kernel[t] for t in range(window))
            for start in range(0, len(sequence) - window + 1, 2)
        ]

    def _combine(self, attended: dict, kernel: np.ndarray) -> Rows:
        """Return the sum over all phrases that hold i (or, in a decoder, end at i)."""
        window = [(m, 0) for m in sorted(self.orders, reverse=True)]
        if self.look_ahead:
            window += [(m, s) for s in range(1, max(self.orders)) for m in self.orders if s < m]
        assert len(kernel) == len(window)
        length = len(attended[self.orders[0]])
        outputs = []
        for i in range(length):
            total = np.zeros(kernel.shape[2])
            for weight, (m, s) in zip(kernel, window, strict=True):
                if i + s < length and attended[m][i + s] is not None:
                    total = total + attended[m][i + s] @ weight
            outputs.append(total)
        return outputs
