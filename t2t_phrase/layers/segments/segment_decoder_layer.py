"""One layer of a decoder that looks up the phrases of the source before its tokens."""

from __future__ import annotations

from typing import Any

import keras

from t2t_phrase.layers.attention.multi_head_attention import Cache
from t2t_phrase.layers.common.decoder_layer import DecoderLayer
from t2t_phrase.layers.common.encoder_layer import build_once
from t2t_phrase.layers.common.residual import Residual
from t2t_phrase.layers.segments.attentive_combination import AttentiveCombination


@keras.saving.register_keras_serializable(package="t2t_phrase")
class SegmentDecoderLayer(DecoderLayer):
    """Self-attention, combination with source phrases, attention to the source, feed-forward.

    Xu et al. (2020), Figure 2.

    Args:
        combination: reads the phrases.
        **kwargs: as for `DecoderLayer`.

    Call arguments:
        x: (B, T, D) float.
        memory: (B, S, D) float, the encoder's output.
        phrases: (B, P, D) float, this layer's memory of phrases.
        attention_mask: bool, broadcastable to (B, H, T, T); True = may attend.
        memory_mask: bool, broadcastable to (B, H, T, S).
        phrase_mask: bool, broadcastable to (B, H, T, P).
        training: whether dropout is active.

    Returns:
        (output (B, T, D), self-attention weights, cross-attention weights, weights of the attention
        to phrases).
    """

    def __init__(self, *, combination: AttentiveCombination, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.combination = combination
        self.phrase_residual = Residual(
            name="phrase_residual", norm=self.norm, dropout=self.dropout, dtype=self.dtype_policy
        )

    def build(self, x_shape: Any, memory_shape: Any = None, phrases_shape: Any = None) -> None:
        """Create the weights of all sublayers."""
        build_once(self.combination, x_shape, phrases_shape)
        self.phrase_residual.build(x_shape)
        super().build(x_shape, memory_shape)

    def call(  # type: ignore[override]
        self,
        x: Any,
        memory: Any,
        phrases: Any,
        attention_mask: Any | None = None,
        memory_mask: Any | None = None,
        phrase_mask: Any | None = None,
        training: bool = False,
    ) -> tuple[Any, Any, Any, Any]:
        """Apply all sublayers to whole sentences."""
        x, weights = self.attend_self(x, attention_mask, training)
        combined, phrase_weights = self.combination(
            self.phrase_residual.before(x), phrases, phrase_mask=phrase_mask, training=training
        )
        x = self.phrase_residual(x, combined, training=training)
        x, cross_weights = self.attend_source(x, memory, memory_mask, training)
        return self.feed(x, training), weights, cross_weights, phrase_weights

    def project_memory(  # type: ignore[override]
        self, memory: Any, phrases: Any, phrase_mask: Any, folded: Cache | None = None
    ) -> Cache:
        """Return what `step` reads of the encoder's output and the phrases.

        `folded`: see `AttentiveCombination`.
        """
        return {
            "source": super().project_memory(memory),
            "phrases": self.combination.project_memory(phrases, folded),
            "phrase_mask": phrase_mask,
        }

    def step(
        self,
        x: Any,
        cache: Cache,
        index: Any,
        *,
        projected: Cache,
        attention_mask: Any,
        memory_mask: Any,
    ) -> tuple[Any, dict[str, Any], Cache]:
        """Apply all sublayers to the current token of every beam; see `DecoderLayer.step`.

        The attention weights are "decoder", "decoder_phrases" and "cross".
        """
        x, self_weights, history = self.step_self(x, cache["self"], index, attention_mask)
        combined, phrase_weights = self.combination.attend(
            self.phrase_residual.before(x), projected["phrases"], projected["phrase_mask"]
        )
        x = self.phrase_residual(x, combined)
        x, cross_weights, queries = self.step_source(
            x, cache["cross"], index, projected["source"], memory_mask
        )
        weights = {
            "decoder": self_weights,
            "decoder_phrases": phrase_weights,
            "cross": cross_weights,
        }
        return self.feed(x), weights, {"self": history, "cross": queries}

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        serialize = keras.saving.serialize_keras_object
        return {**super().get_config(), "combination": serialize(self.combination)}
