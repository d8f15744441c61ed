"""The hyperparameters of Luong's recurrent models."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import ClassVar, Literal

from t2t_phrase.models.regularization_hparams import RegularizationHParams


@dataclasses.dataclass(frozen=True, kw_only=True)
class LuongHParams(RegularizationHParams):
    """Sizes, attention and dropout of an LSTM encoder-decoder."""

    model: ClassVar[str] = "luong"  # registered name of the model that reads these fields
    cannot_pack: ClassVar[str] = (
        "a recurrent model takes a step for each token of a row, so rows of several pairs would "
        "take longer than short ones, and its state would pass from one pair to the next"
    )

    hidden_size: int = 1000  # of embeddings and of every layer
    num_hidden_layers: int = 4  # of the encoder, and as many of the decoder
    encoder_reads: Literal["forwards", "backwards", "both"] = "forwards"  # both: half size each way
    attention: Literal["none", "global", "local_m", "local_p"] = "none"
    # The score "location" is for global attention only.
    attention_score: Literal["dot", "general", "concat", "location"] = "dot"
    attention_window: int = 0  # D of $2D + 1$ positions; set with local attention only
    attention_positions: int = 0  # source positions with weights; set with location only
    input_feeding: bool = False  # the decoder reads the attentional vector of the previous step
    dropout: float = 0.0  # of the inputs of every layer and of the softmax
    initial_range: float = 0.1  # weights start uniform in +-this; 0: as usual for their kind

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        for name in ("hidden_size", "num_hidden_layers"):
            if getattr(self, name) < 1:
                yield f"{name}: must be at least 1, got {getattr(self, name)}"
        yield from self.below_one("dropout")
        yield from self.at_most(
            hidden_size=2**17,
            num_hidden_layers=1000,
            attention_window=2**16,
            attention_positions=2**16,
            initial_range=10**6,
        )
        if self.initial_range < 0:
            yield f"initial_range: must not be negative, got {self.initial_range}"
        if self.encoder_reads == "both" and self.hidden_size % 2:
            yield (
                f"hidden_size={self.hidden_size}: must be even with encoder_reads=both, half of it "
                "for each direction"
            )
        if self.attention == "none":
            for name in ("input_feeding", "attention_score"):
                if getattr(self, name) not in (False, "dot"):
                    yield f"{name}={getattr(self, name)}: attention=none does not read it"
        local = self.attention.startswith("local")
        if local and self.attention_score == "location":
            yield (
                f"attention_score=location: attention={self.attention} cannot score windows with it"
            )
        yield from self._check_read("attention_window", local, "attention=local_m or local_p")
        location = self.attention == "global" and self.attention_score == "location"
        yield from self._check_read("attention_positions", location, "attention_score=location")

    def _check_read(self, name: str, read: bool, by: str) -> Iterable[str]:
        value = getattr(self, name)
        if read and value < 1:
            yield f"{name}: must be at least 1 with {by}, got {value}"
        elif not read and value:
            yield f"{name}={value}: only {by} reads it"
