"""Subword regularisation: further segmentations of the training set, drawn at random."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.t2t_vocabulary import T2T_TYPE
from t2t_phrase.features import IDS, Side


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sampling:
    """The distribution that the segmentations of a shard are drawn from.

    Attributes:
        alpha: with a unigram model, the exponent of the probabilities of segmentations (Kudo,
            2018); with BPE, the probability of leaving out a merge (Provilkov et al., 2020).
        sides: sides whose segmentations are drawn; the other side keeps its usual segmentation.
        seed: seed of the shard.
    """

    alpha: float
    sides: tuple[Side, ...]
    seed: str


def sample_split(number: int) -> str:
    """Return the name of the split with random segmentation `number`, counted from 0."""
    return f"train-sample-{number:04d}"


def sample_splits(options: Mapping[str, Any]) -> list[str]:
    """Return the splits that data with these options have in addition to those of the corpus."""
    return [sample_split(number) for number in range(options.get("sampled_segmentations", 0))]


def sampling_options(
    *, segmentations: int, alpha: float, sides: str, vocab_type: str
) -> dict[str, Any]:
    """Return the sampling options for a manifest; none without sampled segmentations.

    Raises:
        UserError: the vocabulary is of words or of tensor2tensor's subwords, which allow one
            segmentation only.
    """
    if not segmentations:
        return {}
    if vocab_type == "words":
        raise UserError(
            f"--sampled_segmentations={segmentations}: a vocabulary of words allows one "
            "segmentation only; use --vocab_type=subwords or unigram"
        )
    if vocab_type == T2T_TYPE:
        raise UserError(
            f"--sampled_segmentations={segmentations}: tensor2tensor's own subwords allow one "
            "segmentation only, the longest pieces; leave it out, or use a vocabulary made by "
            "t2t-phrase-datagen"
        )
    return {
        "sampled_segmentations": segmentations,
        "sampling_alpha": alpha,
        "sampling_sides": sides,
    }


def sampling_of(options: Mapping[str, Any], split: str, shard: int) -> Sampling | None:
    """Return the distribution for a shard of a split; None for the usual segmentation.

    Args:
        options: the options in the manifest.
        split: name of the split.
        shard: number of the shard.
    """
    if split not in sample_splits(options):
        return None
    sides = options["sampling_sides"]
    return Sampling(
        alpha=options["sampling_alpha"],
        sides=tuple(side for side in IDS if sides in ("both", side)),
        seed=f"{options['random_seed']}-{split}-{shard}",
    )
