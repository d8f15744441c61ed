"""A single continuation: the most likely token, or one drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.decoding.search.plain_expansion import (
    candidates_of,
    forbid_early_end,
    likeliest_allowed,
)
from t2t_phrase.decoding.search.sampling_filters import NO_FILTERS, Filters, filtered
from t2t_phrase.ops.drawing import draw
from t2t_phrase.ops.likeliest import logits_of

# More than the number of tokens of any output.
SEED_STRIDE = 1 << 16
_ODD = 0x1E3779B1
# The distance between the seeds of two samples of a sentence: a large prime.
_SAMPLES_APART = 1_000_000_007


def sample_seed(random_seed: int, *, batch: int, sample: int) -> np.ndarray:
    """Return (2,) int32, the seed of `sampling_expansion` for a sample of a batch.

    Args:
        random_seed: of the options of decoding.
        batch: number of the batch.
        sample: number of the sample of each sentence.
    """
    return np.array([random_seed + sample * _SAMPLES_APART, batch]).astype(np.int32)


def sampling_expansion(
    decoder: BatchDecoder,
    *,
    temperature: float = 0.0,
    filters: Filters = NO_FILTERS,
    min_length: int = 0,
    seed: Any = None,
) -> Expansion:
    """Continue every hypothesis by one token, for a search with $K = 1$; EOS ends it.

    Args:
        decoder: of a batch, with $K = 1$.
        temperature: divides the logits; 0: take the most likely token, as greedy search does.
        filters: which tokens may be drawn.
        min_length: fewest tokens before EOS.
        seed: (2,) int, read only when tokens are drawn. It determines them, under every backend and
            however the search is compiled.
    """
    if temperature:
        seed = ops.cast(seed, "uint32")

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        logits, cache, _ = decoder.step(alive.tokens, index, cache)
        logits = forbid_early_end(ops.cast(logits[:, 0], "float32"), index, min_length)  # (B, V)
        barred = decoder.barred_tokens(cache, logits.shape[-1])
        barred = None if barred is None else barred[:, 0]
        _, best, normalizer = likeliest_allowed(logits, 1, None, barred)
        tokens = best[:, 0]
        if temperature:
            drawable = logits if barred is None else ops.where(barred, -float("inf"), logits)
            tokens = _draw(filtered(drawable / temperature, filters), index, seed)
        forced = decoder.forced_tokens(cache)
        if forced is not None:
            tokens = ops.where(forced[:, 0] >= 0, forced[:, 0], tokens)
        log_probs = alive.log_probs + (logits_of(logits, tokens) - normalizer)[:, None]
        tokens = tokens[:, None]  # (B, 1)
        return candidates_of(decoder, cache, log_probs, ops.zeros_like(tokens), tokens), cache

    return Expansion(expand, decoder.cache, decoder.reorder, decoder.pads)


def _draw(logits: Any, index: Any, seed: Any) -> Any:
    """Return (B,) int32 tokens of logits (B, V)."""
    # Far apart, so that the draws of one seed are not those of the next seed one token later. What
    # the product loses of a great seed goes to the other half.
    lost = seed[1] // SEED_STRIDE * ops.cast(_ODD, seed.dtype)
    now = ops.stack([seed[0] + lost, seed[1] * SEED_STRIDE + ops.cast(index, seed.dtype)])
    return draw(logits, now)
