"""Search over a part of the target vocabulary.

Shapes: B sentences, K beams, N tokens of the shortlist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from keras import ops

from t2t_phrase.config import UserError
from t2t_phrase.decoding.search import guided
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.restrictions import is_restricted
from t2t_phrase.models.base import Step

# The names of the shortlist's fields among the features of a batch.
TOKENS, ALLOWED = "shortlist_tokens", "shortlist_allowed"


class Shortlist(NamedTuple):
    """The tokens that the translations of a batch may consist of.

    Within the search, a token is represented by its place in `tokens`. Pad and EOS are the first
    two, so their numbers are the same as in the vocabulary.

    Attributes:
        tokens: (N,) int32, in ascending order; padded at the end with the last of them.
        allowed: (B, N) bool, the tokens of each sentence; False at padding.
    """

    tokens: Any
    allowed: Any

    def full(self, places: Any) -> Any:
        """Return the tokens (...) at places (...)."""
        return ops.take(self.tokens, places, axis=0)

    def places(self, tokens: Any) -> Any:
        """Return the places (...) of tokens (...), all of which are in the list."""
        flat = ops.searchsorted(self.tokens, ops.reshape(tokens, (-1,)), side="left")
        return ops.cast(ops.reshape(flat, ops.shape(tokens)), "int32")


def shortlist_of(features: Mapping[str, Any]) -> Shortlist | None:
    """Return the shortlist among the features of a batch; None: there is none.

    Raises:
        UserError: there are also restrictions, which need the whole vocabulary.
    """
    if TOKENS not in features:
        return None
    if is_restricted(features):
        raise UserError(
            "a lexicon cannot be used together with prefixes or --dictionary_mode=require, whose "
            "words may consist of any tokens; leave one of them out"
        )
    return Shortlist(features[TOKENS], ops.cast(features[ALLOWED], "bool"))


def in_places(features: Mapping[str, Any], shortlist: Shortlist) -> Mapping[str, Any]:
    """Return features with the dictionary's target tokens as places in the shortlist."""
    if guided.TOKENS not in features:
        return features
    return {**features, guided.TOKENS: shortlist.places(features[guided.TOKENS])}


def shortlisted_decoder(decoder: BatchDecoder, shortlist: Shortlist) -> BatchDecoder:
    """Return a decoder that takes and scores places in a shortlist.

    Probabilities are normalised over the shortlist of each sentence, as in Marian, so they do not
    depend on the other sentences of the batch.

    Args:
        decoder: of a model with weights of the shortlist, see `EncoderDecoder.shorten`.
        shortlist: of the batch.
    """
    allowed = shortlist.allowed[:, None]

    def step(ids: Any, index: Any, cache: Any) -> Step:
        found = decoder.step(shortlist.full(ids), index, cache)
        return found._replace(logits=ops.where(allowed, found.logits, -float("inf")))

    return decoder._replace(step=step)
