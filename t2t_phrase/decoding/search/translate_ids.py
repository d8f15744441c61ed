"""Translates token ids with a model, according to the options of decoding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keras import ops

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import PLAIN_SEARCH, DecodeHParams
from t2t_phrase.decoding.search.aligning import aligning_decoder
from t2t_phrase.decoding.search.batch_decoder import BatchDecoder, start_decoder
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.constrained import constrained_expansion
from t2t_phrase.decoding.search.coverage import covering_decoder
from t2t_phrase.decoding.search.diverse import diverse_expansion, join_groups
from t2t_phrase.decoding.search.expansion import Expansion
from t2t_phrase.decoding.search.guided import entries_of, guided_decoder
from t2t_phrase.decoding.search.output_limits import OutputLimits, output_limits
from t2t_phrase.decoding.search.plain_expansion import plain_expansion
from t2t_phrase.decoding.search.repetition import nonrepeating_decoder
from t2t_phrase.decoding.search.restrictions import (
    LIMITS,
    check_restrictions,
    constraints_of,
    restricted_decoder,
)
from t2t_phrase.decoding.search.sampling import sampling_expansion
from t2t_phrase.decoding.search.sampling_filters import filters_of
from t2t_phrase.decoding.search.search_weights import (
    ConstantWeights,
    SearchWeights,
    expansion_reading,
    prepare_weights,
    reading,
)
from t2t_phrase.decoding.search.shortlist import in_places, shortlist_of, shortlisted_decoder
from t2t_phrase.decoding.search.source_attention import source_attention
from t2t_phrase.decoding.search.token_probabilities import noting_probabilities
from t2t_phrase.special_ids import EOS_ID

Features = Mapping[str, Any]
MakeExpansion = Callable[[BatchDecoder, Features, DecodeHParams], Expansion]


class NotesOmitted(UserError):
    """A search does not record the decoder's notes, which alignments and dictionaries need."""


def translate_ids(
    model: Any,
    features: Features,
    hparams: DecodeHParams,
    *,
    seed: Any = 0,
    weights: SearchWeights | ConstantWeights | None = None,
    make_expansion: MakeExpansion | None = None,
    growing: bool = False,
) -> Hypotheses:
    """Translate a batch of token ids, with the output lengths that the options allow.

    Args:
        model: see `search`.
        features: see `search`.
        hparams: the options of decoding.
        seed: see `search`.
        weights: see `search`.
        make_expansion: see `search`.
        growing: see `search`.
    """
    return search(
        model,
        features,
        output_limits(features["inputs"], hparams),
        hparams,
        seed=seed,
        weights=weights,
        make_expansion=make_expansion,
        growing=growing,
    )


def search(
    model: Any,
    features: Features,
    limits: OutputLimits,
    hparams: DecodeHParams,
    *,
    seed: Any = 0,
    weights: SearchWeights | ConstantWeights | None = None,
    make_expansion: MakeExpansion | None = None,
    growing: bool = False,
) -> Hypotheses:
    """Translate a batch of token ids, with output lengths of the caller's choice.

    Args:
        model: an `EncoderDecoder`.
        features: "inputs", (B, S) int32, 0-padded, EOS at the end of each sentence, and any other
            features of the source that the model or the expansion reads. Dictionary entries, see
            `search.guided`, are forced; with a shortlist, see `search.shortlist`, only its tokens
            are searched; constraints on the outputs, see `search.restrictions`, are respected.
        limits: the longest outputs.
        hparams: the options of decoding.
        seed: of sampling: the number of the batch, read together with `random_seed` of the options,
            or (2,) int32 from `sample_seed`, read instead of it.
        weights: from `prepare_weights`, which many batches may share; None: made here.
        make_expansion: maps (decoder, features, hparams) to another expansion than
            `plain_expansion`; the other one must take care of `min_length` and of the decoder's
            notes and forced tokens. None: chosen by the options, see `chosen_expansion`.
        growing: whether the decoder's histories grow from step to step: faster where a graph is
            executed one operation after the other, impossible under XLA. They always grow if
            `limits.longest` is not a number.

    Raises:
        UserError: the model cannot be searched by the expansion that the options choose; or
            alignments, a dictionary or coverage are requested, but the model shows no attention to
            the source.
        NotesOmitted: likewise, but the expansion omits the decoder's notes.
    """
    make_expansion = chosen_expansion(hparams, make_expansion)
    if make_expansion is None and model.capabilities.cannot_translate:
        raise UserError(model.capabilities.cannot_translate)
    beam_size = 1 if hparams.sampling_temp > 0 else hparams.beam_size
    if weights is None:
        weights = prepare_weights(model, quantized=hparams.quantize == "int8")
    constant = isinstance(weights, ConstantWeights)
    if isinstance(weights, ConstantWeights):
        weights = weights.weights
    shortlist, folded = shortlist_of(features), weights.folded
    # Each batch has its own shortlist.
    constant = constant and shortlist is None
    with reading(model, weights, constant=constant):
        if shortlist is not None:
            if make_expansion is not None:
                raise UserError(
                    "a lexicon cannot be used with an alignment model or a custom search"
                )
            folded = model.shorten(folded, shortlist.tokens, shortlist.allowed)
            features = in_places(features, shortlist)
        decoder = start_decoder(
            model,
            features,
            beam_size=beam_size,
            length=limits.longest,
            folded=folded,
            growing=growing or ops.is_tensor(limits.longest),
        )
        if shortlist is not None:
            decoder = shortlisted_decoder(decoder, shortlist)
        sizes = (ops.shape(limits.each)[0], beam_size, limits.longest)
        given = {**features, LIMITS: limits.each}
        expansion = _expansion(model, decoder, given, hparams, make_expansion, sizes, seed)
        if hparams.token_probabilities:
            expansion = noting_probabilities(expansion)
        groups = hparams.num_groups
        found = beam_search(
            expansion_reading(model, weights, expansion, constant=constant),
            max_lengths=limits.each if groups == 1 else ops.repeat(limits.each, groups),
            length=limits.longest,
            beam_size=beam_size // groups,
            # A single hypothesis is not compared with others, so its score is not divided.
            alpha=0.0 if beam_size == 1 else hparams.alpha,
            only_best=not hparams.return_beams,
        )
        if groups > 1:
            found = join_groups(found, groups)
        return found if shortlist is None else found._replace(ids=shortlist.full(found.ids))


def chosen_expansion(hparams: DecodeHParams, given: MakeExpansion | None) -> MakeExpansion | None:
    """Return the search that the options name, or else the given one; None: there is neither.

    Raises:
        UserError: the name is unknown, a search is both named and given, or the given one does not
            support the options.
    """
    if not hparams.search:
        if given is not None and (unread := hparams.given((*PLAIN_SEARCH, "sampling_temp"))):
            raise UserError(
                f"{', '.join(unread)}: cannot be used with an alignment model, which uses its own "
                "search"
            )
        return given
    if given is not None:
        raise UserError(
            f"search={hparams.search}: cannot be used with an alignment model, which uses its own "
            "search"
        )
    chosen: MakeExpansion = registry.searches[hparams.search]
    return chosen


@registry.searches.register_as("beam_search")
def beam_search_expansion(
    decoder: BatchDecoder, features: Features, hparams: DecodeHParams
) -> Expansion:
    """Continue hypotheses by the model's own probabilities; for any `beam_size`."""
    del features
    return plain_expansion(decoder, min_length=hparams.min_length)


def _expansion(
    model: Any,
    decoder: BatchDecoder,
    features: Features,
    hparams: DecodeHParams,
    make_expansion: MakeExpansion | None,
    sizes: tuple[Any, int, Any],
    seed: Any,
) -> Expansion:
    """Return the way of continuing hypotheses that the options choose.

    Args:
        model: see `search`.
        decoder: of the batch.
        features: see `search`.
        hparams: the options of decoding.
        make_expansion: see `search`.
        sizes: B, K and the length of the longest output.
        seed: see `search`.
    """
    check_restrictions(features, hparams)
    if model.capabilities.hypothesises_positions:
        assert make_expansion is not None, "checked in `search`"
        return make_expansion(decoder, features, hparams)
    entries = entries_of(features)
    aligns = hparams.aligns
    if aligns or entries is not None or hparams.coverage_penalty:
        attention = source_attention(
            model, layers=hparams.alignment_layers, heads=hparams.alignment_heads
        )
        partitions = attention.partitions(model, features)
    if aligns or entries is not None:
        decoder = aligning_decoder(decoder, attention, partitions, sizes[:2])
    decoder = restricted_decoder(decoder, features, sizes[1])
    if entries is not None:
        decoder = guided_decoder(decoder, entries, sizes[1])
    if hparams.coverage_penalty:
        decoder = covering_decoder(
            decoder,
            attention,
            partitions,
            features["inputs"] > EOS_ID,
            beam_size=sizes[1],
            weight=hparams.coverage_penalty,
        )
    if hparams.no_repeat_ngram_size:
        decoder = nonrepeating_decoder(
            decoder, size=hparams.no_repeat_ngram_size, shape=sizes[:2], length=sizes[2]
        )
    constraints = constraints_of(features)
    if constraints is not None:
        return constrained_expansion(decoder, constraints, sizes[1], min_length=hparams.min_length)
    if make_expansion is not None:
        expansion = make_expansion(decoder, features, hparams)
        if missing := [name for name in decoder.pads if name not in expansion.notes]:
            raise NotesOmitted(
                f"this search does not record {', '.join(missing)} for tokens, so neither "
                "alignments nor a dictionary can be used with it"
            )
        return expansion
    if sizes[1] == 1:
        return sampling_expansion(
            decoder,
            temperature=hparams.sampling_temp,
            filters=filters_of(hparams),
            min_length=hparams.min_length,
            seed=_seed(hparams.random_seed, seed),
        )
    if hparams.num_groups > 1:
        return diverse_expansion(
            decoder,
            beam_size=sizes[1],
            groups=hparams.num_groups,
            strength=hparams.diversity_strength,
            min_length=hparams.min_length,
        )
    return plain_expansion(decoder, min_length=hparams.min_length)


def _seed(random_seed: int, seed: Any) -> Any:
    """Return (2,) int32 for `sampling_expansion`."""
    seed = ops.cast(seed, "int32")
    return seed if len(seed.shape) else ops.stack([random_seed, seed])
