"""Expansions written outside the library, of its public names alone; no TensorFlow."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.expansion import Alive, Candidates, Expansion
from t2t_phrase.decoding.search.plain_expansion import best_continuations
from t2t_phrase.special_ids import EOS_ID

NEVER = -float("inf")


def forcing_expansion(decoder: BatchDecoder, forced: Any, max_lengths: Any) -> Expansion:
    """Force a token into every output: EOS has to wait for it.

    In the last place before EOS nothing else is allowed. The allowed tokens do not share the
    probability of the excluded ones.

    Args:
        decoder: of a batch.
        forced: (B,) int32, one token for each sentence.
        max_lengths: (B,) int32, as for the search.

    Returns:
        An expansion with the notes "place" int32, where the token first stands, -1 before, and
        "log_probs" (2,) float32, of the hypothesis without its last token and with it.
    """

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        logits, cache, _ = decoder.step(alive.tokens, index, cache)
        logits -= ops.logsumexp(logits, axis=-1, keepdims=True)  # (B, K, V)
        vocabulary = ops.arange(logits.shape[-1])
        is_forced = (vocabulary == forced[:, None])[:, None]  # (B, 1, V)
        waiting = ops.equal(alive.notes["place"], -1)[..., None]  # (B, K, 1)
        last_chance = ops.equal(index + 2, max_lengths)[:, None, None]
        excluded = ops.logical_or(
            vocabulary == EOS_ID, ops.logical_and(last_chance, ops.logical_not(is_forced))
        )
        logits = ops.where(ops.logical_and(waiting, excluded), NEVER, logits)
        # `best_continuations` normalises: add what it takes away.
        before = alive.log_probs + ops.logsumexp(logits, axis=-1)
        log_probs, parents, tokens = best_continuations(logits, before)
        place = ops.take_along_axis(alive.notes["place"], parents, axis=1)
        now = ops.logical_and(place == -1, ops.equal(tokens, forced[:, None]))
        earlier = ops.take_along_axis(alive.log_probs, parents, axis=1)
        notes = {
            "place": ops.where(now, ops.cast(index, "int32"), place),
            "log_probs": ops.stack([earlier, log_probs], axis=2),
        }
        return Candidates(log_probs, parents, tokens, ops.equal(tokens, EOS_ID), notes), cache

    notes = {"place": ops.full((), -1, "int32"), "log_probs": ops.zeros((2,))}
    return Expansion(expand, decoder.cache, decoder.reorder, notes)


def aligning_expansion(decoder: BatchDecoder, jumps: Any, emissions: Any) -> Expansion:
    """Hypothesise a source position by a second model before every token.

    A candidate is a pair of a position and a token; its log-probability is that of the position
    given the one before, plus that of the token by the decoder and by the position.

    Args:
        decoder: of a batch.
        jumps: (B, S, S) float32, logits of the next position for each position.
        emissions: (B, S, V) float32, added to the decoder's logits at each position.

    Returns:
        An expansion with the note "position" int32, padded with 0, where alignment starts.
    """

    def expand(alive: Alive, index: Any, cache: Any) -> tuple[Candidates, Any]:
        logits, cache, _ = decoder.step(alive.tokens, index, cache)
        beams, vocab, places = logits.shape[1], logits.shape[2], jumps.shape[1]
        position = alive.notes["position"][..., None]  # (B, K, 1)
        moves = ops.take_along_axis(_log_softmax(jumps), position, axis=1)  # (B, K, S)
        words = _log_softmax(logits[:, :, None] + emissions[:, None])  # (B, K, S, V)
        every = alive.log_probs[..., None, None] + moves[..., None] + words
        log_probs, chosen = ops.top_k(ops.reshape(every, (-1, beams * places * vocab)), 2 * beams)
        # EOS ends a hypothesis at each of the S positions, so 2K candidates may all end.
        going = ops.where(ops.arange(vocab) == EOS_ID, NEVER, every)
        more, others = ops.top_k(ops.reshape(going, (-1, beams * places * vocab)), beams)
        seen = ops.any(ops.equal(others[..., None], chosen[:, None]), axis=2)
        log_probs = ops.concatenate([log_probs, ops.where(seen, NEVER, more)], axis=1)
        chosen = ops.cast(ops.concatenate([chosen, others], axis=1), "int32")  # (B, 3K)
        tokens = chosen % vocab
        notes = {"position": chosen // vocab % places}
        parents = chosen // (vocab * places)
        return Candidates(log_probs, parents, tokens, ops.equal(tokens, EOS_ID), notes), cache

    return Expansion(expand, decoder.cache, decoder.reorder, notes={"position": 0})


def _log_softmax(logits: Any) -> Any:
    return logits - ops.logsumexp(logits, axis=-1, keepdims=True)
