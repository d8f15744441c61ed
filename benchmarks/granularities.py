"""Multi-granularity self-attention in benchmarks: plausible trees, and the cost of equations."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from t2t_phrase.models.multi_granularity_hparams import MultiGranularityHParams

# Constituents have two or three children.
LEAST_CHILDREN, MOST_CHILDREN = 2, 3


def random_levels(rows: int, length: int, seed: int = 0) -> np.ndarray:
    """Return the feature "levels" of random trees over `length` tokens, (rows, length) int32.

    Every constituent has two or three children, cut at random. So levels 1, 2 and 3 divide 23 words
    and EOS into about 3.5, 7 and 12.5 segments; the trees of the built-in grammar divide 20 words
    into 5, 8 and 12 on average.
    """
    from t2t_phrase.features import CONTINUES, MOST_LEVELS

    rng = np.random.default_rng(seed)
    numbers = np.full((rows, length), CONTINUES, "int32")
    numbers[:, 0] = numbers[:, -1] = 1  # EOS is a separate segment

    def cut(row: np.ndarray, begin: int, end: int, level: int) -> None:
        if end - begin < 2 or level > MOST_LEVELS:
            return
        children = min(int(rng.integers(LEAST_CHILDREN, MOST_CHILDREN + 1)), end - begin)
        inner = sorted(rng.choice(np.arange(begin + 1, end), children - 1, replace=False).tolist())
        row[inner] = level
        for pair in itertools.pairwise([begin, *inner, end]):
            cut(row, *pair, level + 1)

    for row in numbers:
        cut(row, 0, length - 1, 1)
    return numbers


def random_tags(rows: int, length: int, seed: int = 0) -> np.ndarray:
    """Return the feature "tags" with random labels, (rows, length) int32."""
    from t2t_phrase.features import MOST_TAG_LEVELS, TAG_CLASSES

    rng = np.random.default_rng(seed)
    return rng.integers(1, TAG_CLASSES**MOST_TAG_LEVELS, size=(rows, length), dtype="int32")


def segments_of(partition: str, source: int) -> float:
    """Return the number of segments of `source` tokens; for levels, the mean over trees."""
    from t2t_phrase.models.multi_granularity_hparams import parse_granularity

    kind, number = parse_granularity(partition)
    if kind == "ngram":
        return -(-source // number)
    return float((random_levels(200, source) <= number).sum(axis=1).mean())


def layer_cost(hparams: MultiGranularityHParams, source: int) -> float:
    """Return the multiply-adds of one layer's self-attention for a sentence of `source` tokens."""
    from t2t_phrase.models.multi_granularity_hparams import TOKENS, heads_of

    width, head = hparams.hidden_size, hparams.hidden_size // hparams.num_heads
    cost = 2.0 * width**2 * source  # W_Q and W_O
    for name in heads_of(hparams):
        if name == TOKENS:
            cost += 2 * width * head * source + 2 * head * source**2
            continue
        segments = segments_of(name, source)
        cost += width * head * source  # W_F
        cost += 2 * head**2 * segments + 2 * head * source * segments  # W_K, W_V; attention
        if hparams.composition == "lstm":
            cost += 8 * head**2 * source
        elif hparams.composition == "attention":
            # Each token is attended to by the segment that it is in.
            cost += head**2 * segments + 2 * head**2 * source + 2 * head * source
        if hparams.interaction != "none":
            gates = 4 * head
            if hparams.interaction == "on_lstm":
                gates += 2 * head // hparams.on_lstm_chunk_size
            cost += 2 * head * gates * segments
    return cost


def granularity_cost(hparams: Any, source: int, plain: float) -> float:
    """Return the multiply-adds that granularities add to a sentence's encoding; may be negative.

    Args:
        hparams: of any model.
        source: tokens of the sentence.
        plain: multiply-adds of the self-attention in a layer without granularities.
    """
    from t2t_phrase.models.multi_granularity_hparams import MultiGranularityHParams

    if not isinstance(hparams, MultiGranularityHParams):
        return 0.0
    return len(hparams.granularity_layers) * (layer_cost(hparams, source) - plain)
