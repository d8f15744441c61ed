"""The interleaved structure: n-grams attend to n-grams."""

from __future__ import annotations

import dataclasses
from typing import Any

from keras import ops

from t2t_phrase.layers.attention.layout import Layout, Units
from t2t_phrase.layers.ngrams.heterogeneous import Heterogeneous
from t2t_phrase.layers.ngrams.ngram_context import NgramContext
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.ops.ngram_masks import attended_mask, ngram_query_mask
from t2t_phrase.ops.ngrams import shift


@dataclasses.dataclass(frozen=True)
class Interleaved(Heterogeneous):
    """The heterogeneous structure, with n-grams as queries, too.

    Nguyen and Joty (2018), Section 3.3. A_m,i is the result of the query n-gram of order m that
    ends at i, and zero where there is no such n-gram. The output map is a convolution with stride 2
    over the interleaved sequence 0, u_1, b_1, u_2, b_2, ..., u_N, 0 of unigrams $u = A_1$ and
    bigrams $b = A_2$, Eq. (13) to (17): with window 3 in the encoder, and with window 2 in decoder
    and cross-attention, where later n-grams must not be seen. The output is computed as one
    product, without building that sequence:

        encoder:         O_i = A_2,i W_0 + A_1,i W_1 + A_2,i+1 W_2
        decoder, cross:  O_i = A_2,i W_0 + A_1,i W_1

    The convolution takes the place of W_o in Eq. (3). The paper compares it with the feed-forward
    layer of the Transformer, which is kept here; with it, QueryK has 116M parameters, as the paper
    states.

    The paper defines this for orders 1 and 2 only. For any set of orders, the output at i sums over
    the n-grams that contain i in the encoder, and over those that end at i elsewhere:

        encoder:         O_i = sum_m sum_{s=0}^{m-1} A_m,i+s W_m,s
        decoder, cross:  O_i = sum_m A_m,i W_m,0

    The attention weights are (B, H, M T, N S) with $M = N$ query orders: four blocks for orders 1
    and 2, token-to-token and token-to-phrase above phrase-to-token and phrase-to-phrase.

    Attributes:
        look_ahead: whether the output at i reads n-grams that end after i, as in the encoder. If
            so, a token that no query may attend to counts as padding; no query n-gram ends there.
    """

    look_ahead: bool = False

    @property
    def query_orders(self) -> tuple[int, ...]:
        """Orders of the query n-grams: those of the memory."""
        return self.orders

    @property
    def can_decode(self) -> bool:
        """Whether no output depends on later queries."""
        return not self.look_ahead

    @property
    def layout(self) -> Layout:
        """The layout of the attention weights."""
        units = tuple(map(Units, self.orders))
        return Layout(num_heads=self.num_heads, rows=units, columns=units)

    def mask(
        self,
        attention_mask: Any | None,
        positions: Any,
        length: Any,
        beam_size: int,
        memory_positions: Any | None = None,
    ) -> Any | None:
        """Return a mask broadcastable to (B, H, M T, N S)."""
        mask = super().mask(attention_mask, positions, length, beam_size, memory_positions)
        real = None
        if self.look_ahead and attention_mask is not None:
            real = attended_mask(attention_mask)
        return ngram_query_mask(mask, self.orders, positions, real)

    @property
    def output_window(self) -> list[tuple[int, int]]:
        """The (index of the order, distance) of each n-gram that contributes to the output at i."""
        window = [(place, 0) for place in reversed(range(len(self.orders)))]
        if self.look_ahead:
            furthest = max(self.orders)
            window += [
                (place, ahead)
                for ahead in range(1, furthest)
                for place, order in enumerate(self.orders)
                if ahead < order
            ]
        return window

    @property
    def output_order(self) -> int:
        """The number of head results, each D wide, that an output combines."""
        return len(self.output_window)

    def output(self, results: Any, output_map: NgramDense, context: NgramContext) -> Any:
        """Return (B, T, D) from the results (B, M T, D) of all query orders, Eq. (13) to (17).

        The result of a query n-gram that begins before its sentence is zero. So where rows hold
        several sentences, the last tokens of one read nothing of the next.
        """
        del context
        by_order = ops.split(results, len(self.orders), axis=1)
        parts = [shift(by_order[place], -ahead) for place, ahead in self.output_window]
        return output_map.map_windows(ops.concatenate(parts, axis=-1))
