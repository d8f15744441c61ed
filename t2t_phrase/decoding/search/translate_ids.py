"""Searches with a model, by the options of decoding: ids in, ids and scores out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keras import ops

from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.beam_search import Hypotheses, beam_search
from t2t_phrase.decoding.search.sampling import sample

Features = Mapping[str, Any]


def translate_ids(
    model: Any, features: Features, hparams: DecodeHParams, *, seed: Any = 0, folded: Any = None
) -> Hypotheses:
    """Translate a batch of token ids within the limits that the options set.

    Args:
        model: see `search`.
        features: "inputs", (B, S) int32, 0-padded, EOS at the end of each sentence; and what else
            the model reads of the source.
        hparams: the options of decoding.
        seed: int, distinguishes the batches when sampling.
        folded: see `search`.
    """
    length = ops.shape(features["inputs"])[1] + hparams.extra_length
    if hparams.max_length:
        at_most = min if isinstance(length, int) else ops.minimum
        length = at_most(length, hparams.max_length)
    limits = output_limits(features["inputs"], hparams)
    return search(model, features, limits, hparams, length=length, seed=seed, folded=folded)


def search(
    model: Any,
    features: Features,
    max_lengths: Any,
    hparams: DecodeHParams,
    *,
    length: Any,
    seed: Any = 0,
    folded: Any = None,
) -> Hypotheses:
    """Translate a batch of token ids within given limits.

    Args:
        model: follows the decoding protocol of `models.transformer.Transformer`: `prepare_memory`,
            `start_cache`, `step` and `reorder`.
        features: see `translate_ids`.
        max_lengths: (B,) int32, longest output of each sentence, see `output_limits`.
        hparams: the options of decoding.
        length: the longest of `max_lengths` there may be; a number, or a scalar where a graph is
            traced for inputs of unknown length.
        seed: int, distinguishes the batches when sampling.
        folded: from the model's `fold_weights`, which many batches may share; None = made here.
    """
    memory = model.prepare_memory(features, folded)
    sampling = hparams.sampling_temp > 0 or hparams.beam_size == 1
    beam_size = 1 if sampling else hparams.beam_size
    cache = model.start_cache(memory, beam_size, length)

    def step(ids: Any, index: Any, cache: Any) -> tuple[Any, Any]:
        step = model.step(ids, index, memory, cache)
        return step.logits, step.cache

    common = {"max_lengths": max_lengths, "length": length, "min_length": hparams.min_length}
    if sampling:
        return sample(
            step,
            cache,
            temperature=hparams.sampling_temp,
            keep_top_k=hparams.sampling_keep_top_k,
            seed=ops.stack([hparams.random_seed, seed]),
            **common,
        )
    return beam_search(
        step,
        cache,
        reorder=model.reorder,
        beam_size=beam_size,
        alpha=hparams.alpha,
        only_best=not hparams.return_beams,
        **common,
    )


def output_limits(inputs: Any, hparams: DecodeHParams) -> Any:
    """Return (B,) int32: the longest output of each of the inputs (B, S), EOS included.

    It is counted from the sentence, not from its padding, so that a sentence has the same limit in
    any batch. Sentences without tokens have the limit 0.
    """
    lengths = ops.sum(ops.cast(ops.not_equal(inputs, 0), "int32"), axis=1)
    limits = lengths + hparams.extra_length
    if hparams.max_length:
        limits = ops.minimum(limits, hparams.max_length)
    return ops.where(lengths > 0, limits, 0)
