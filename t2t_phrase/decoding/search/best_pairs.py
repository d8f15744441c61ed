"""The best continuations by a pair of hypothesis and position, and a token.

Shapes: B sentences, K beams, S source positions, V vocabulary size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.decoding.search.constrained import with_own
from t2t_phrase.decoding.search.dealing import deal
from t2t_phrase.decoding.search.plain_expansion import likeliest_allowed
from t2t_phrase.special_ids import EOS_ID

NEVER = -float("inf")


class Required(NamedTuple):
    """Candidates that required terms ask for, see `search.constrained`.

    Attributes:
        tokens: (B, K, N) int32, further tokens that may follow.
        logits: (B, K, N) float32, of these tokens; -inf: the token may not follow.
        banks_of: maps tokens (B, K, M) to the banks of the candidates, (B, K, M) int32, -1 where a
            token may not follow.
        number_of_banks: number of banks; banks are numbered from 0.
    """

    tokens: Any
    logits: Any
    banks_of: Callable[[Any], Any]
    number_of_banks: Any


class Evaluated(NamedTuple):
    """The candidates that can follow pairs.

    Attributes:
        logits: (B, K, V) float32, of the tokens.
        forced: (B, K) int32, see `likeliest_allowed`, or None.
        barred: (B, K, V) bool, see `likeliest_allowed`, or None.
        required: the candidates of required terms; None: nothing is required.
    """

    logits: Any
    forced: Any | None = None
    barred: Any | None = None
    required: Required | None = None


class Best(NamedTuple):
    """The best continuations so far, best first; every field (B, K).

    Attributes:
        log_probs: float32, of continuations that do not end; -inf: there is none.
        tokens: int32, of continuations that do not end.
        pairs: int32, hypothesis times S plus position, of continuations that do not end.
        ended: float32, log-probabilities of continuations that end.
        ended_pairs: int32, as `pairs`, of continuations that end.
        banks: int32, of continuations that do not end; 0 where nothing is required.
    """

    log_probs: Any
    tokens: Any
    pairs: Any
    ended: Any
    ended_pairs: Any
    banks: Any

    @classmethod
    def none(cls, like: Any, spare: int = 0) -> Best:
        """Return an instance without continuations.

        Args:
            like: (B, K).
            spare: number of places beyond K for continuations that do not end.
        """
        ended = ops.zeros_like(like, "int32")
        going_on = ops.pad(ended, [(0, 0), (0, spare)])
        never, scores = (ops.full_like(x, NEVER, "float32") for x in (ended, going_on))
        return cls(scores, going_on, going_on, never, ended, going_on)

    def chosen(self, number_of_banks: Any) -> Best:
        """Return the K continuations that are chosen from the banks, ordered by their scores.

        Args:
            number_of_banks: see `Required`.
        """
        beams = self.ended.shape[1]
        kept = deal(
            self.log_probs,
            self.banks,
            number_of_banks=number_of_banks,
            count=beams,
            by_score=beams // 2,
        )
        scores = ops.take_along_axis(self.log_probs, kept, axis=1)
        # A search keeps this order.
        kept = ops.take_along_axis(kept, ops.argsort(-scores, axis=1), axis=1)
        going_on = ("log_probs", "tokens", "pairs", "banks")
        moved = {n: ops.take_along_axis(getattr(self, n), kept, axis=1) for n in going_on}
        return self._replace(**moved)

    def merged(self, scores: Any, pairs: Any, evaluated: Evaluated) -> Best:
        """Return the best of these and the continuations of more pairs.

        Args:
            scores: (B, K) float32, of hypothesis and position.
            pairs: (B, K) int32.
            evaluated: the candidates that can follow the pairs.
        """
        logits, forced, barred, required = evaluated
        beams, vocab = logits.shape[1:]
        # One more than can continue, because EOS may be among them.
        each = min(beams + 1, vocab)
        top, tokens, normalizer = likeliest_allowed(logits, each, forced, barred)  # (B, K, each)
        scores -= normalizer
        end = logits[..., EOS_ID]
        if barred is not None:
            end = ops.where(barred[..., EOS_ID], NEVER, end)
        if forced is not None:
            end = ops.where(ops.logical_or(forced < 0, forced == EOS_ID), end, NEVER)
        top = ops.where(tokens == EOS_ID, NEVER, top)
        banks = ops.zeros_like(tokens)
        if required is not None:
            top, tokens = with_own(top, tokens, required.tokens, required.logits)
            banks = required.banks_of(tokens)
            top = ops.where(banks < 0, NEVER, top)
        width = ops.shape(tokens)[-1]
        every = ops.reshape(scores[..., None] + top, (-1, beams * width))
        every = ops.concatenate([self.log_probs, every], axis=1)
        tokens, banks = (ops.reshape(x, (-1, beams * width)) for x in (tokens, banks))
        owners = ops.repeat(pairs, width, axis=1)
        if required is None:
            log_probs, kept = ops.top_k(every, self.log_probs.shape[1])
        else:
            # With K / 2 spare places, each part keeps every candidate that is chosen from all.
            kept = deal(
                every,
                ops.concatenate([self.banks, banks], axis=1),
                number_of_banks=required.number_of_banks,
                count=self.log_probs.shape[1],
                by_score=beams // 2,
            )
            log_probs = ops.take_along_axis(every, kept, axis=1)
        ends = ops.concatenate([self.ended, scores + end], axis=1)
        ended, ending = ops.top_k(ends, beams)
        return Best(
            log_probs,
            _pick(self.tokens, tokens, kept),
            _pick(self.pairs, owners, kept),
            ended,
            _pick(self.ended_pairs, pairs, ending),
            _pick(self.banks, banks, kept),
        )


def _pick(before: Any, new: Any, kept: Any) -> Any:
    return ops.take_along_axis(ops.concatenate([before, new], axis=1), kept, axis=1)
