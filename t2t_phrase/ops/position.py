"""The timing signal: sinusoids that tell positions apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from keras import ops


def timing_signal(positions: Any, hidden_size: int) -> Any:
    """Return (T, D) float32: at position t, sin(t f_i) for all i, then cos(t f_i).

    The D/2 frequencies fall geometrically from 1 to 1e-4, as in tensor2tensor.

    Differs from the paper: Vaswani et al. (2017), Section 3.5, interleave sines and cosines and
    let the frequencies end one step before 1e-4; the blocks are a permutation of that.

    Args:
        positions: (T,) int.
        hidden_size: D; an odd one ends in a zero.
    """
    count = hidden_size // 2
    step = math.log(1e4) / max(count - 1, 1)
    frequency = np.exp(-step * np.arange(count)).astype("float32")
    angle = ops.cast(positions, "float32")[:, None] * frequency[None, :]
    signal = ops.concatenate([ops.sin(angle), ops.cos(angle)], axis=1)
    return ops.pad(signal, [(0, 0), (0, hidden_size % 2)])
