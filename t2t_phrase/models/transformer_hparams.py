"""The hyperparameters of a Transformer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import ClassVar, Literal

from t2t_phrase.models.regularization_hparams import RegularizationHParams

# tensor2tensor's encoder adds one of 32 vectors that stand for the kind of text to produce. The
# table is kept so that tensor2tensor's checkpoints load.
TARGET_SPACES = 32


@dataclasses.dataclass(frozen=True, kw_only=True)
class TransformerHParams(RegularizationHParams):
    """Sizes and dropouts of a Transformer; names and defaults are those of `transformer_base`."""

    model: ClassVar[str] = "transformer"  # registered name of the model that reads these fields
    cannot_pack: ClassVar[str] = ""

    hidden_size: int = 512  # D, width of every residual stream
    filter_size: int = 2048  # inner width of the feed-forward networks
    num_heads: int = 8
    num_hidden_layers: int = 6  # layers of each stack, unless set below
    num_encoder_layers: int = 0  # 0 = num_hidden_layers
    num_decoder_layers: int = 0  # 0 = num_hidden_layers
    norm: Literal["pre", "post"] = "pre"
    pos: Literal["timing", "none"] = "timing"  # absolute positions
    max_relative_position: int = 0  # largest distance told apart in self-attention; 0 = none
    attention_dropout: float = 0.1
    relu_dropout: float = 0.1
    layer_prepostprocess_dropout: float = 0.1
    attention_initializer_gain: float = 1.0  # scales the variance of queries, keys, values
    shared_embedding_and_softmax_weights: bool = True
    share_source_embedding: bool = True  # False: the source has its own, target and softmax another
    target_space_id: int = 0  # row of tensor2tensor's target-space embedding

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        for name in ("hidden_size", "filter_size", "num_heads", "num_hidden_layers"):
            if getattr(self, name) < 1:
                yield f"{name}: must be at least 1, got {getattr(self, name)}"
        for name in ("num_encoder_layers", "num_decoder_layers", "max_relative_position"):
            if getattr(self, name) < 0:
                yield f"{name}: must not be negative, got {getattr(self, name)}"
        yield from self.below_one(
            "attention_dropout", "relu_dropout", "layer_prepostprocess_dropout"
        )
        if not self.attention_initializer_gain > 0:
            yield (
                "attention_initializer_gain: must be positive, "
                f"got {self.attention_initializer_gain}"
            )
        # Far above every published model, but below sizes that would only fill the memory.
        yield from self.at_most(
            hidden_size=2**17,
            filter_size=2**20,
            num_hidden_layers=1000,
            num_encoder_layers=1000,
            num_decoder_layers=1000,
            max_relative_position=2**16,
            attention_initializer_gain=100,
        )
        if self.num_heads >= 1 and self.hidden_size % self.num_heads:
            yield (
                f"hidden_size={self.hidden_size} is not a multiple of num_heads={self.num_heads}"
            )
        if not self.share_source_embedding and not self.shared_embedding_and_softmax_weights:
            yield (
                "share_source_embedding=False: is not used with "
                "shared_embedding_and_softmax_weights=False, which already separates all embeddings"
            )
        if not 0 <= self.target_space_id < TARGET_SPACES:
            yield f"target_space_id: must be in [0, {TARGET_SPACES}), got {self.target_space_id}"
