"""The progress of hypotheses through the terms that translations must have.

Shapes: B sentences, N hypotheses of each, T terms of a sentence, A alternatives of a term, L tokens
of an alternative, V vocabulary size.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.ops.rows import take_rows

# The name of the terms among the features of a batch: (B, T, A, L) int32, the tokens of each
# alternative, 0 after its end. Where the first alternative has no tokens, there is no term.
TERMS = "required_terms"
# The note with the number of the term, from 1, that a token completes, else 0. It does not count
# if the next token continues the same word.
TERM = "required_term"


class Progress(NamedTuple):
    """The state of each hypothesis.

    Attributes:
        met: (B, N, T) bool, the terms that have been written.
        matched: (B, N, T, A, L) bool, whether the last tokens are those of an alternative up to
            each place. Tokens of a term that is met do not count for another one.
        last: (B, N) int32, the number of the term, from 1, that the last token completes; else 0.
    """

    met: Any
    matched: Any
    last: Any

    def of(self, parents: Any) -> Progress:
        """Return the progress of the hypotheses `parents` (B, M)."""
        return Progress(*(take_rows(values, parents) for values in self))


def start_progress(terms: Any, beam_size: int) -> Progress:
    """Return the state before the first token; N is `beam_size`."""
    batch, *sizes = ops.shape(terms)
    return Progress(
        ops.zeros((batch, beam_size, sizes[0]), "bool"),
        ops.zeros((batch, beam_size, *sizes), "bool"),
        ops.zeros((batch, beam_size), "int32"),
    )


def sizes_of(terms: Any) -> Any:
    """Return (B, T) int32: the length of the shortest alternative of each term; 0: no term."""
    lengths = _lengths(terms)
    most = ops.shape(terms)[-1] + 1
    shortest = ops.min(ops.where(lengths > 0, lengths, most), axis=-1)
    return ops.where(shortest < most, shortest, 0)


def advance(terms: Any, progress: Progress, tokens: Any, begins_word: Any) -> Progress:
    """Return the state after one more token.

    A term is met by the token that completes one of its alternatives, unless more of another,
    unfinished alternative has been written. If the next token continues the word, the word is a
    different one, and the term is not met. Of several terms completed at once, the longest is met;
    of equally long ones, the first.

    Args:
        terms: of the batch.
        progress: before the token.
        tokens: (B, N) int32.
        begins_word: (B, N) bool, whether the word before each token is complete.
    """
    count, places = ops.shape(terms)[1], ops.shape(terms)[3]
    numbers = ops.arange(1, count + 1, dtype="int32")
    is_last = numbers == progress.last[..., None]  # (B, N, T)
    met = ops.logical_and(
        progress.met, ops.logical_or(ops.logical_not(is_last), begins_word[..., None])
    )
    used = ops.logical_and(progress.last > 0, begins_word)
    before = ops.logical_and(progress.matched, ops.logical_not(used)[..., None, None, None])
    # An alternative may begin anywhere.
    before = ops.pad(before[..., :-1], [*[(0, 0)] * 4, (1, 0)])
    before = ops.logical_or(before, ops.arange(places) == 0)
    here = terms[:, None] == tokens[..., None, None, None]  # (B, N, T, A, L)
    here = ops.logical_and(here, terms[:, None] > 0)
    matched = ops.logical_and(ops.logical_and(before, here), ops.logical_not(met)[..., None, None])
    sizes = sizes_of(terms)[:, None]  # (B, 1, T)
    ends = ops.arange(1, places + 1, dtype="int32") == _lengths(terms)[..., None]
    complete = ops.any(ops.logical_and(matched, ends[:, None]), axis=(-1, -2))  # (B, N, T)
    gains = ops.where(complete, sizes, 0)
    going_on = ops.max(ops.where(complete, 0, _written(terms, matched)), axis=-1)
    gain = ops.max(gains, axis=-1)
    first = ops.cast(ops.argmax(gains, axis=-1), "int32") + 1
    last = ops.where(ops.logical_and(gain > 0, gain >= going_on), first, 0)
    return Progress(ops.logical_or(met, numbers == last[..., None]), matched, last)


def tokens_left(terms: Any, progress: Progress) -> Any:
    """Return (B, N) int32: the fewest tokens with which all terms can be met."""
    unmet = ops.where(progress.met, 0, sizes_of(terms)[:, None])
    written = ops.where(progress.met, 0, _written(terms, progress.matched))
    # Tokens that a completed term shares with others count for it alone.
    going_on = ops.where(progress.last > 0, 0, ops.max(written, axis=-1))
    return ops.sum(unmet, axis=-1) - going_on


def next_tokens(terms: Any, progress: Progress) -> Any:
    """Return (B, N, 2 T A) int32: the tokens that begin or continue terms; 0: none."""
    batch, hypotheses, count, alternatives, places = ops.shape(progress.matched)
    open_terms = ops.logical_not(progress.met)[..., None]
    begin = ops.where(open_terms, terms[:, None, :, :, 0], 0)
    place = ops.arange(1, places + 1, dtype="int32")
    reached = ops.max(ops.where(progress.matched, place, 0), axis=-1)  # (B, N, T, A)
    following = ops.pad(terms[..., 1:], [*[(0, 0)] * 3, (0, 1)])
    at_place = ops.equal(place, reached[..., None])
    go_on = ops.sum(ops.where(at_place, following[:, None], 0), axis=-1)
    go_on = ops.where(open_terms, go_on, 0)
    flat = (batch, hypotheses, count * alternatives)
    return ops.concatenate([ops.reshape(go_on, flat), ops.reshape(begin, flat)], axis=-1)


def _lengths(terms: Any) -> Any:
    """Return (B, T, A) int32."""
    return ops.sum(ops.cast(terms > 0, "int32"), axis=-1)


def _written(terms: Any, matched: Any) -> Any:
    """Return (B, N, T) int32: each term's length less that of its shortest rest; at least 0."""
    places = ops.shape(terms)[3]
    place = ops.arange(1, places + 1, dtype="int32")
    reached = ops.max(ops.where(matched, place, 0), axis=-1)  # (B, N, T, A)
    lengths = _lengths(terms)[:, None]
    rest = ops.where(reached > 0, lengths - reached, places + 1)
    return ops.maximum(sizes_of(terms)[:, None] - ops.min(rest, axis=-1), 0)
