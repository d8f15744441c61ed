"""Beams that branch: random tokens, and what each beam has seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from t2t_phrase.ops.masks import history_mask


class BranchingBeams:
    """Random tokens for K beams of each sentence; between steps, beams continue others at random.

    Attributes:
        histories: (B, K, T, D), the tokens of each beam so far.
    """

    def __init__(self, batch_size: int, beam_size: int, length: int, width: int) -> None:
        self.random = np.random.default_rng(1)
        self.ancestors = np.zeros((batch_size, beam_size, length), "int32")
        self.histories = np.zeros((batch_size, beam_size, 0, width), "float32")

    def grow(self) -> np.ndarray:
        """Add a token to every beam, and return these, (B, K, D)."""
        batch_size, beam_size, time, width = self.histories.shape
        token = self.random.normal(size=(batch_size, beam_size, width)).astype("float32")
        self.histories = np.concatenate([self.histories, token[:, :, None]], axis=2)
        self.ancestors[:, :, time] = np.arange(beam_size)
        return token

    def visible(self) -> Any:
        """Return the mask of the current tokens, see `history_mask`."""
        return history_mask(self.ancestors, self.histories.shape[2] - 1)

    def branch(self) -> np.ndarray:
        """Choose the beam that each beam continues, and return these, (B, K)."""
        batch_size, beam_size, _ = self.ancestors.shape
        parents = self.random.integers(beam_size, size=(batch_size, beam_size))
        self.ancestors = np.take_along_axis(self.ancestors, parents[..., None], axis=1)
        self.histories = np.take_along_axis(self.histories, parents[..., None, None], axis=1)
        return parents
