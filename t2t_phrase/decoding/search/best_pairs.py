"""The best continuations by a pair of hypothesis and position, and a token.

Shapes: B sentences, K beams, S source positions, V vocabulary size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.decoding.search.plain_expansion import only_forced
from t2t_phrase.ops.likeliest import likeliest
from t2t_phrase.special_ids import EOS_ID

NEVER = -float("inf")


class Evaluated(NamedTuple):
    """The candidates that can follow pairs.

    Attributes:
        logits: (B, K, V) float32, of the tokens.
        forced: (B, K) int32, the only tokens that may follow, -1 where any may; None: any may
            follow all. A forced token has the probability that it has among all tokens.
    """

    logits: Any
    forced: Any | None = None


class Best(NamedTuple):
    """The best continuations so far, best first; every field (B, K).

    Attributes:
        log_probs: float32, of those that go on; -inf: there is none.
        tokens: int32, their tokens.
        pairs: int32, hypothesis times S plus position, of those that go on.
        ended: float32, log-probabilities of those that end.
        ended_pairs: int32, as `pairs`.
    """

    log_probs: Any
    tokens: Any
    pairs: Any
    ended: Any
    ended_pairs: Any

    @classmethod
    def none(cls, like: Any) -> Best:
        """Return that of no continuation, of the shape of `like` (B, K)."""
        zeros = ops.zeros_like(like, "int32")
        scores = ops.full_like(like, NEVER, "float32")
        return cls(scores, zeros, zeros, scores, zeros)

    def merged(self, scores: Any, pairs: Any, evaluated: Evaluated) -> Best:
        """Return the best of these and the continuations of more pairs.

        Args:
            scores: (B, K) float32, of hypothesis and position.
            pairs: (B, K) int32.
            evaluated: what can follow them.
        """
        logits, forced = evaluated
        beams, vocab = logits.shape[1:]
        # One more than can go on, because EOS may be among them.
        each = min(beams + 1, vocab)
        top, tokens, normalizer = likeliest(logits, each)  # (B, K, each)
        scores -= normalizer
        end = logits[..., EOS_ID]
        if forced is not None:
            top, tokens = only_forced(top, tokens, logits, forced)
            end = ops.where(ops.logical_or(forced < 0, forced == EOS_ID), end, NEVER)
        top = ops.where(tokens == EOS_ID, NEVER, top)
        every = ops.reshape(scores[..., None] + top, (-1, beams * each))
        every = ops.concatenate([self.log_probs, every], axis=1)
        tokens = ops.reshape(tokens, (-1, beams * each))
        owners = ops.repeat(pairs, each, axis=1)
        log_probs, kept = ops.top_k(every, beams)
        ends = ops.concatenate([self.ended, scores + end], axis=1)
        ended, ending = ops.top_k(ends, beams)
        return Best(
            log_probs,
            _pick(self.tokens, tokens, kept),
            _pick(self.pairs, owners, kept),
            ended,
            _pick(self.ended_pairs, pairs, ending),
        )


def _pick(before: Any, new: Any, kept: Any) -> Any:
    return ops.take_along_axis(ops.concatenate([before, new], axis=1), kept, axis=1)
