"""Continuations by a position of the source and a token: alignment-based search.

Shapes: B sentences, K beams, S source positions, V vocabulary size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.alignment_pruning import pack, surviving_positions
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.decoding.search.plain_expansion import forbid_early_end
from t2t_phrase.models.aligned_pair import AlignedPair
from t2t_phrase.models.base import Features
from t2t_phrase.ops.jumps import BEFORE, position_log_probs
from t2t_phrase.special_ids import EOS_ID

NEVER = -float("inf")


def alignment_expansion(
    pair: AlignedPair, decoder: BatchDecoder, features: Features, hparams: DecodeHParams
) -> Expansion:
    """Continue hypotheses by source positions and, given each of these, by tokens.

    Alkhouli et al. (2018), Algorithm 1. In every step, the alignment model gives the probability
    of each source position for each hypothesis. Positions below `alignment_threshold` are pruned;
    of a hypothesis for which none is left, none is pruned. The lexical model is evaluated for the
    others, and a continuation (hypothesis, position, token) adds

        log p(token | position, ...) + alignment_weight log p(position | ...)

    to the score. All continuations compete in one beam; the K best that go on and the K best that
    end are returned, so nothing but pruning is lost.

    The pairs of hypothesis and position that are left are evaluated K of each sentence at a time,
    as if they were its beams, until all are done: pruning saves whole evaluations. The state of
    the lexical model changes only at the end, with one more evaluation for the pairs that won.
    Sentences that are done and hypotheses that do not exist have no pairs.

    Args:
        pair: both models.
        decoder: of a batch, by `start_decoder` for the pair.
        features: not read.
        hparams: the options of decoding.

    Returns:
        An expansion with the notes "alignment" int32, the source position of each token, BEFORE
        after the end, and "positions" int32, how many positions were evaluated for the hypothesis
        that the token continues.

    Raises:
        UserError: `hparams` ask for sampling.
    """
    del features
    if hparams.sampling_temp:
        raise UserError(
            f"sampling_temp={hparams.sampling_temp}: with an alignment model there is only beam "
            "search; leave sampling out of --decode_hparams"
        )
    memory = decoder.memory

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        previous = alive.notes["alignment"]
        moved = pair.alignment.step(
            alive.tokens, index, memory["alignment"], cache["alignment"], previous
        )
        length = ops.shape(memory["real"])[1]
        places = position_log_probs(_log_softmax(moved.logits), previous, length)  # (B, K, S)
        kept = surviving_positions(places, memory["real"], hparams.alignment_threshold)
        continued = ops.logical_and(alive.log_probs > NEVER, ops.logical_not(alive.done)[:, None])
        packed = pack(ops.logical_and(kept, continued[..., None]))
        before = alive.log_probs[..., None] + hparams.alignment_weight * places

        def evaluate(pairs: Any) -> Any:
            """Run the lexical model for pairs (B, K), of whose hypotheses it then is the state."""
            parents = pairs // length
            return pair.lexical.step(
                ops.take_along_axis(alive.tokens, parents, axis=1),
                index,
                memory["lexical"],
                pair.lexical.reorder(cache["lexical"], parents),
                pairs % length,
            )

        def unfinished(number: Any, best: Best) -> Any:
            del best
            return number < packed.rounds

        def advance(number: Any, best: Best) -> tuple[Any, Best]:
            pairs, real = packed.round(number)
            scores = ops.take_along_axis(ops.reshape(before, ops.shape(packed.order)), pairs, 1)
            logits = ops.cast(evaluate(pairs).logits, "float32")
            logits = forbid_early_end(logits, index, hparams.min_length)
            return number + 1, best.merged(ops.where(real, scores, NEVER), pairs, logits)

        _, best = ops.while_loop(
            unfinished, advance, (ops.zeros((), "int32"), Best.none(alive.log_probs))
        )
        state = evaluate(best.pairs).cache
        pairs = ops.concatenate([best.pairs, best.ended_pairs], axis=1)  # (B, 2K)
        parents = pairs // length
        count = ops.sum(ops.cast(kept, "int32"), axis=-1)
        candidates = Candidates(
            ops.concatenate([best.log_probs, best.ended], axis=1),
            parents,
            ops.concatenate([best.tokens, ops.full_like(best.tokens, EOS_ID)], axis=1),
            ops.concatenate(
                [ops.zeros_like(best.tokens, "bool"), ops.ones_like(best.tokens, "bool")], axis=1
            ),
            notes={
                "alignment": pairs % length,
                "positions": ops.take_along_axis(count, parents, axis=1),
            },
        )
        return candidates, {"lexical": state, "alignment": moved.cache}

    def reorder(cache: Any, parents: Any) -> Any:
        # The lexical model's state is that of the K best that go on already; the search keeps
        # their order.
        return {
            "lexical": cache["lexical"],
            "alignment": pair.alignment.reorder(cache["alignment"], parents),
        }

    return Expansion(expand, decoder.cache, reorder, notes={"alignment": BEFORE, "positions": 0})


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
        scores, zeros = ops.full_like(like, NEVER), ops.zeros_like(like, "int32")
        return cls(scores, zeros, zeros, scores, zeros)

    def merged(self, scores: Any, pairs: Any, logits: Any) -> Best:
        """Return the best of these and the continuations of more pairs.

        Args:
            scores: (B, K) float32, of hypothesis and position.
            pairs: (B, K) int32.
            logits: (B, K, V) float32, of the tokens.
        """
        beams, vocab = logits.shape[1:]
        scores -= ops.logsumexp(logits, axis=-1)
        going = ops.where(ops.arange(vocab) == EOS_ID, NEVER, logits)
        top, tokens = ops.top_k(going, min(beams, vocab))  # (B, K, each)
        every = ops.reshape(scores[..., None] + top, (-1, beams * top.shape[-1]))
        every = ops.concatenate([self.log_probs, every], axis=1)
        tokens = ops.cast(ops.reshape(tokens, (-1, beams * top.shape[-1])), "int32")
        owners = ops.repeat(pairs, top.shape[-1], axis=1)
        log_probs, kept = ops.top_k(every, beams)
        ends = ops.concatenate([self.ended, scores + logits[..., EOS_ID]], axis=1)
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


def _log_softmax(logits: Any) -> Any:
    logits = ops.cast(logits, "float32")
    return logits - ops.logsumexp(logits, axis=-1, keepdims=True)
