"""Continuations by a source position and a token: alignment-based search.

Shapes: B sentences, K beams, S source positions, V vocabulary size.
"""

from __future__ import annotations

import functools
from typing import Any

from keras import ops

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.aligning import POSITION
from t2t_phrase.decoding.search.alignment_pruning import pack, surviving_positions
from t2t_phrase.decoding.search.alignment_rounds import Sentences, best_pairs
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.best_pairs import NEVER, Best, Evaluated
from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.decoding.search.guided import (
    ENTRY,
    Forcing,
    entries_of,
    force_entries,
    start_forcing,
)
from t2t_phrase.decoding.search.pair_restrictions import Restrictions
from t2t_phrase.decoding.search.plain_expansion import forbid_early_end
from t2t_phrase.models.aligned_pair import AlignedPair
from t2t_phrase.models.base import Features, Step
from t2t_phrase.ops.jumps import BEFORE, position_log_probs
from t2t_phrase.special_ids import EOS_ID

# The note with the number of source positions that were evaluated.
EVALUATED = "evaluated"
# The name, among the features of a batch, of the tokens of a known translation, (B, L) int32.
REFERENCE = "reference_tokens"


def alignment_expansion(
    pair: AlignedPair, decoder: BatchDecoder, features: Features, hparams: DecodeHParams
) -> Expansion:
    """Continue hypotheses by source positions and, given each of these, by tokens.

    Alkhouli et al. (2018), Algorithm 1. In every step, the alignment model gives the probability
    of each source position for each hypothesis. Positions below `alignment_threshold` are pruned,
    unless no position of the hypothesis would be left. The lexical model is evaluated for the
    others, and a continuation (hypothesis, position, token) adds

        log p(token | position, ...) + alignment_weight log p(position | ...)

    to the score. All continuations compete in one beam; the K best that continue and the K best
    that end are returned, so nothing is lost except by pruning.

    The remaining pairs of hypothesis and position are evaluated K of each sentence at a time, as if
    they were its beams, until all are done, see `alignment_rounds`: pruning saves whole
    evaluations. The state of the lexical model changes only at the end, with one more evaluation
    for the chosen pairs. Sentences that are done and hypotheses that do not exist have no pairs.

    Differs from the paper, Section 5: a token is aligned with its hypothesised position. The paper
    adds the weights of all other heads, which usually leaves that position the greatest sum.

    Args:
        pair: both models.
        decoder: of a batch, from `start_decoder` for the pair.
        features: of the batch. Dictionary entries, see `search.guided`, are forced at the positions
            that begin their phrases; a REFERENCE is forced token by token. Prefixes, required terms
            and forbidden phrases are respected, see `search.restrictions`.
        hparams: the options of decoding.

    Returns:
        An expansion with the notes POSITION int32, the source position of each token, BEFORE after
        the end; EVALUATED int32, the number of positions that were evaluated for the hypothesis
        that the token continues; and ENTRY, where there are entries.
    """
    made = _AlignmentExpansion(pair, decoder, features, hparams)
    return Expansion(made.expand, made.start, made.reorder, made.pads)


class _AlignmentExpansion:
    """The functions of `alignment_expansion`, which has the same arguments.

    Attributes:
        start: the state before the first token.
        pads: of the notes, see `Expansion.notes`.
    """

    def __init__(
        self, pair: AlignedPair, decoder: BatchDecoder, features: Features, hparams: DecodeHParams
    ) -> None:
        self._pair, self._memory, self._hparams = pair, decoder.memory, hparams
        self._entries, self._reference = entries_of(features), features.get(REFERENCE)
        self._restrictions = Restrictions(features, hparams.beam_size)
        self._vocab_size = pair.lexical.target_vocab_size or pair.lexical.vocab_size
        self.start = {**decoder.cache, "restricted": self._restrictions.start}
        self.pads = {POSITION: BEFORE, EVALUATED: 0, **self._restrictions.pads}
        if self._entries is not None:
            self.start["forcing"] = start_forcing(self._entries, hparams.beam_size)
            self.pads[ENTRY] = 0

    def expand(self, alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        """Return the best continuations and the next state, see `Expansion`."""
        memory, restrictions = self._memory, self._restrictions
        moved = self._pair.alignment.step(
            alive.tokens,
            index,
            memory["alignment"],
            cache["alignment"],
            alive.notes[POSITION],
        )
        places = position_log_probs(
            _log_softmax(moved.logits), alive.notes[POSITION], self._length
        )  # (B, K, S)
        kept = surviving_positions(places, memory["real"], self._hparams.alignment_threshold)
        continued = ops.logical_and(alive.log_probs > NEVER, ops.logical_not(alive.done)[:, None])
        packed = pack(ops.logical_and(kept, continued[..., None]))
        before = alive.log_probs[..., None] + self._hparams.alignment_weight * places
        restricted, held = restrictions.advance(
            alive.tokens, index, cache["restricted"], self._vocab_size
        )
        scores = ops.reshape(before, ops.shape(packed.order))
        sentences = Sentences(alive.tokens, self._own(cache, held), scores, packed)
        best = best_pairs(
            sentences,
            memory["lexical"],
            evaluate=functools.partial(self._evaluated, index),
            take_memory=self._pair.lexical.take_memory,
            spare=restrictions.spare,
        )
        best = restrictions.chosen(best)
        after = {
            "lexical": self._step(index, memory["lexical"], sentences, best.pairs).cache,
            "alignment": moved.cache,
            "restricted": restricted,
        }
        if self._entries is not None:
            after["forcing"] = _forced(sentences.cache, best.pairs, self._length)[2]
        return self._candidates(best, sentences.cache, kept), after

    def reorder(self, cache: Any, parents: Any) -> Any:
        """Follow a change of beams, see `Expansion`."""
        # The other states already belong to the K best that continue; the search keeps their order.
        return {
            **cache,
            "alignment": self._pair.alignment.reorder(cache["alignment"], parents),
            "restricted": self._restrictions.reorder(cache["restricted"], parents),
        }

    @property
    def _length(self) -> Any:
        """S."""
        return ops.shape(self._memory["real"])[1]

    def _own(self, cache: Any, held: Any) -> dict[str, Any]:
        """Return all that the evaluation of a sentence's pairs reads, besides its memory."""
        own = {"lexical": cache["lexical"], "held": held}
        if self._reference is not None:
            own["reference"] = self._reference
        if self._entries is not None:
            own |= {"entries": self._entries, "forcing": cache["forcing"]}
        return own

    def _step(self, index: Any, memory: Any, batch: Sentences, pairs: Any) -> Step:
        """Return a step of the lexical model for pairs (B, K) of a hypothesis and a position."""
        lexical, parents = self._pair.lexical, pairs // self._length
        return lexical.step(
            ops.take_along_axis(batch.tokens, parents, axis=1),
            index,
            memory,
            lexical.reorder(batch.cache["lexical"], parents),
            pairs % self._length,
        )

    def _evaluated(self, index: Any, memory: Any, batch: Sentences, pairs: Any) -> Evaluated:
        """Return the tokens that can follow pairs, see `alignment_rounds`."""
        logits = ops.cast(self._step(index, memory, batch, pairs).logits, "float32")
        logits = forbid_early_end(logits, index, self._hparams.min_length)
        if self._reference is not None:
            token = ops.take(batch.cache["reference"], index, axis=1)
            return Evaluated(logits, ops.broadcast_to(token[:, None], ops.shape(pairs)))
        forced = None
        if self._entries is not None:
            forced = _forced(batch.cache, pairs, self._length)[0]
        parents = pairs // self._length
        return self._restrictions.evaluated(logits, forced, batch.cache["held"], parents)

    def _candidates(self, best: Best, own: dict[str, Any], kept: Any) -> Candidates:
        """Return the best continuations with their notes.

        Args:
            best: the continuations.
            own: from `_own`.
            kept: (B, K, S) bool, the positions that were evaluated.
        """
        pairs = ops.concatenate([best.pairs, best.ended_pairs], axis=1)  # (B, 2K)
        parents = pairs // self._length
        count = ops.sum(ops.cast(kept, "int32"), axis=-1)
        going = ops.zeros_like(best.tokens, "bool")
        notes = {
            POSITION: pairs % self._length,
            EVALUATED: ops.take_along_axis(count, parents, axis=1),
        }
        if self._entries is not None:
            notes[ENTRY] = _forced(own, pairs, self._length)[1]
        tokens = ops.concatenate([best.tokens, ops.full_like(best.tokens, EOS_ID)], axis=1)
        return Candidates(
            ops.concatenate([best.log_probs, best.ended], axis=1),
            parents,
            tokens,
            ops.concatenate([going, ops.logical_not(going)], axis=1),
            notes={**notes, **self._restrictions.notes(own["held"], parents, tokens)},
        )


def _forced(own: dict[str, Any], pairs: Any, length: Any) -> tuple[Any, Any, Forcing]:
    """Return the tokens that entries force at pairs (B, N), see `force_entries`.

    Args:
        own: "entries"; "forcing", the state of entries before the token; and "held", see
            `Restrictions`.
        pairs: of a hypothesis and a position.
        length: S.
    """
    parents, state = pairs // length, own["forcing"]
    of_pairs = Forcing(
        ops.take_along_axis(state.entry, parents, axis=1),
        ops.take_along_axis(state.place, parents, axis=1),
        ops.take_along_axis(state.used, parents[..., None], axis=1),
    )
    busy = own["held"].get("busy")
    busy = None if busy is None else ops.take_along_axis(busy, parents, axis=1)
    return force_entries(own["entries"], of_pairs, pairs % length, busy)


def _log_softmax(logits: Any) -> Any:
    logits = ops.cast(logits, "float32")
    return logits - ops.logsumexp(logits, axis=-1, keepdims=True)
