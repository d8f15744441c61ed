"""The uses that a model allows."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, kw_only=True)
class Capabilities:
    """The uses that a model allows; by default, all of a plain encoder-decoder.

    Attributes:
        cannot_translate: the reason that plain beam search cannot translate with the model; empty:
            it can.
        cannot_score: the reason that the model cannot score translations; empty: it can.
        hypothesises_positions: whether the model's own search decides on the source position of
            each token; otherwise that is the position with the greatest attention.
        predicts_jumps: whether the model predicts jumps between source positions (`ops.jumps`)
            instead of tokens.
    """

    cannot_translate: str = ""
    cannot_score: str = ""
    hypothesises_positions: bool = False
    predicts_jumps: bool = False
