"""Beginnings, required terms and forbidden phrases among the features of a batch.

Shapes: B sentences, V vocabulary size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder
from t2t_phrase.decoding.search.constrained import Constraints
from t2t_phrase.decoding.search.forbidden import EDGES as FORBIDDEN
from t2t_phrase.decoding.search.forbidden import forbidding_decoder
from t2t_phrase.decoding.search.prefix import TOKENS as PREFIX
from t2t_phrase.decoding.search.prefix import prefix_decoder, prefix_of
from t2t_phrase.decoding.search.required_terms import TERMS
from t2t_phrase.text.token_texts import VocabularyTables

# The names, among the features, of the fields of `VocabularyTables`, (V,) each, and of the longest
# outputs, (B,) int32.
BEGINS_WORD, ENDS_WORD, RANKS = VocabularyTables._fields
LIMITS = "output_limits"
# The names of searches that support restrictions.
PLAIN = ("", "beam_search")


def with_tables(
    features: Mapping[str, Any], tables: Callable[[], VocabularyTables]
) -> Mapping[str, Any]:
    """Return features with the tables of the vocabulary, if there are restrictions that need them.

    Args:
        features: of a batch.
        tables: called only if there are any.
    """
    if not is_restricted(features):
        return features
    return {**features, **tables()._asdict()}


def restricted_decoder(
    decoder: BatchDecoder, features: Mapping[str, Any], beam_size: int
) -> BatchDecoder:
    """Return a decoder whose outputs begin as given and have no forbidden phrases.

    Args:
        decoder: any that forces and bars no tokens.
        features: of the batch.
        beam_size: K.
    """
    prefix = prefix_of(features)
    if prefix is not None:
        decoder = prefix_decoder(decoder, prefix, features[RANKS], beam_size)
    if FORBIDDEN in features:
        decoder = forbidding_decoder(decoder, features[FORBIDDEN], features[ENDS_WORD], beam_size)
    return decoder


def constraints_of(features: Mapping[str, Any]) -> Constraints | None:
    """Return the terms that outputs must have, with their limits; None: there are none."""
    if TERMS not in features:
        return None
    return Constraints(features[TERMS], features[BEGINS_WORD], features[LIMITS])


def check_restrictions(features: Mapping[str, Any], hparams: DecodeHParams) -> None:
    """Refuse restrictions that cannot be combined with the options.

    Raises:
        UserError: a search of the user's own is chosen, or required terms are combined with
            sampling, groups of beams or a beam of one.
    """
    if is_restricted(features) and hparams.search not in PLAIN:
        raise UserError(
            f"search={hparams.search}: prefixes and required terms (--dictionary_mode=require) "
            "have no effect on custom searches; leave search out of --decode_hparams"
        )
    if TERMS in features and hparams.num_groups > 1:
        raise UserError(
            f"num_groups={hparams.num_groups}: required terms (--dictionary_mode=require) cannot "
            "be used with groups of beams; leave num_groups and diversity_strength out of "
            "--decode_hparams"
        )
    if TERMS in features and (hparams.sampling_temp or hparams.beam_size < 2):
        name = "sampling_temp" if hparams.sampling_temp else "beam_size"
        raise UserError(
            f"{name}={getattr(hparams, name)}: required terms (--dictionary_mode=require) need "
            "beam search; set sampling_temp to 0 and beam_size to 2 or more"
        )


def can_require(hparams: DecodeHParams) -> bool:
    """Return whether terms can be required with these options, see `check_restrictions`."""
    single = hparams.num_groups == 1 and not hparams.sampling_temp
    return single and hparams.beam_size > 1 and hparams.search in PLAIN


def is_restricted(features: Mapping[str, Any]) -> bool:
    """Return whether a batch has prefixes, required terms or forbidden phrases."""
    return any(name in features for name in (TERMS, PREFIX, FORBIDDEN))
