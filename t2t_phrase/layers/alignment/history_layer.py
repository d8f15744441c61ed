"""One layer of a decoder that does not attend to a source."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.transformer.encoder_layer import EncoderLayer


@keras.saving.register_keras_serializable(package="t2t_phrase")
class HistoryLayer(EncoderLayer):
    """Self-attention to the history, feed-forward network, for whole sentences or step by step.

    Alkhouli et al. (2018), Section 3.2. For whole sentences, it is an encoder layer with a causal
    mask.

    Args:
        **kwargs: as for `EncoderLayer`.

    Example:
        ```python
        layer = t2t_phrase.layers.HistoryLayer(
            self_attention=t2t_phrase.layers.MultiHeadAttention(num_heads=4, hidden_size=64),
            feed_forward=t2t_phrase.layers.FeedForward(hidden_size=64, filter_size=256),
        )
        x, causal = keras.random.normal((2, 5, 64)), ops.arange(5)[:, None] >= ops.arange(5)
        output, weights = layer(x, attention_mask=causal)  # (2, 5, 64), (2, 4, 5, 5)
        # Token by token, with the same results.
        cache = layer.start_cache(batch_size=2, beam_size=1, length=5)
        for i in range(5):
            output, weights, cache = layer.step(
                x[:, i : i + 1], cache, i, attention_mask=causal[None, None, i : i + 1]
            )  # (2, 1, 64), (2, 4, 1, 5), ...
        ```
    """

    def start_cache(self, batch_size: Any, beam_size: int, length: int) -> Cache:
        """Return the cache of `step` before the first of `length` tokens."""
        return self.self_attention.start_cache(batch_size, beam_size, length)

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Return the cache for new beams, which continue the beams `parents` (B, K)."""
        return self.self_attention.reorder(cache, parents)

    def step(
        self, x: Any, cache: Cache, index: Any, *, attention_mask: Any
    ) -> tuple[Any, Any, Cache]:
        """Apply both sublayers to the current token of every beam.

        Args:
            x: (B, K, D) float.
            cache: from `start_cache`, `step` or `reorder`.
            index: the current time.
            attention_mask: (B, 1, K, L * K) bool, see `ops.masks.history_mask`.

        Returns:
            (output, weights, cache): (B, K, D), the weights of self-attention, and the cache for
            the next step.
        """
        attended, weights, cache = self.self_attention.step(
            self.attention_residual.before(x), cache, index, attention_mask
        )
        x = self.attention_residual(x, attended)
        return self.feed(x), weights, cache
