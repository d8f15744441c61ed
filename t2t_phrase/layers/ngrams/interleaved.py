"""The interleaved structure: phrases attend to phrases."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.ngrams.heterogeneous import Heterogeneous
from t2t_phrase.layers.ngrams.ngram_dense import NgramDense
from t2t_phrase.ops.ngram_masks import attended_mask, ngram_query_mask


class Interleaved(Heterogeneous):
    """Base of heterogeneous attention whose queries are phrases too.

    Nguyen and Joty (2018), Section 3.3. A_m,i is what the query phrase of order m that ends at i
    attends to; it is zero where there is no such phrase. One convolution of the interleaved
    sequence 0, u_1, b_1, u_2, b_2, ..., u_N, 0 of unigrams u = A_1 and bigrams b = A_2 with stride
    2, Eq. (13) to (17), makes the output, in place of the usual map: with window 3 in the encoder
    and 2 in decoder and cross-attention, where later phrases must not be seen. It is computed as
    one product, without building that sequence:

        encoder:         O_i = A_2,i W_0 + A_1,i W_1 + A_2,i+1 W_2
        decoder, cross:  O_i = A_2,i W_0 + A_1,i W_1

    Beyond the paper, which leaves more than two orders open, any set of them:

        encoder:         O_i = sum_m sum_{s=0}^{m-1} A_m,i+s W_m,s    (all phrases that hold i)
        decoder, cross:  O_i = sum_m A_m,i W_m,0                      (those that end at i)

    Shapes: M = N query orders. The attention weights are (B, H, M T, N S), four blocks for orders 1
    and 2: token-to-token and token-to-phrase above phrase-to-token and phrase-to-phrase.

    Args:
        look_ahead: whether the output at i sees phrases that end after i, as in the encoder. Then
            a token that no query may attend to counts as padding, of which there are no phrases.
        **kwargs: as for `NgramAttention`.
    """

    def __init__(self, *, look_ahead: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.look_ahead = look_ahead

    @property
    def query_orders(self) -> tuple[int, ...]:
        """Orders of the query phrases: those of the memory."""
        return self.orders

    @property
    def output_window(self) -> list[tuple[int, int]]:
        """The (place of the order, distance) of each phrase that the output at i is made of."""
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

    def make_output_map(self) -> NgramDense:
        """Return the convolution over the interleaved sequence, as a map of its window."""
        return self.ngram_map("output", len(self.output_window), self.hidden_size)

    def output(self, context: Any) -> Any:
        """Return (B, T, D) from the results (B, M T, D) of all query orders."""
        by_order = ops.split(context, len(self.orders), axis=1)
        length = ops.shape(by_order[0])[1]
        parts = []
        for place, ahead in self.output_window:
            later = ops.pad(by_order[place], [(0, 0), (0, ahead), (0, 0)]) if ahead else None
            parts.append(by_order[place] if later is None else later[:, ahead : ahead + length])
        return self.output_map.map_windows(ops.concatenate(parts, axis=-1))

    def phrase_mask(
        self, attention_mask: Any | None, positions: Any, length: Any, beam_size: int
    ) -> Any:
        """Return a mask broadcastable to (B, H, M T, N S)."""
        mask = super().phrase_mask(attention_mask, positions, length, beam_size)
        real = None
        if self.look_ahead and attention_mask is not None:
            real = attended_mask(attention_mask)
        return ngram_query_mask(mask, self.orders, positions, real)

    def start_cache(self, batch_size: Any, beam_size: int, length: int) -> Cache:
        """Return the history before the first of `length` tokens.

        Raises:
            ValueError: the layer looks ahead, which no decoder can.
        """
        if self.look_ahead:
            raise ValueError("an attention with look_ahead=True cannot decode token by token.")
        return super().start_cache(batch_size, beam_size, length)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "look_ahead": self.look_ahead}
