"""Loads several trained models as one."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

from t2t_phrase.config import UserError
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.load_model import TrainedModel, find_record, load_model
from t2t_phrase.runs.record import RunRecord


@dataclasses.dataclass(frozen=True)
class TrainedEnsemble(TrainedModel):
    """An ensemble; record, checkpoint and step are those of its first member.

    Attributes:
        parts: all members.
    """

    parts: tuple[TrainedModel, ...]

    @property
    def members(self) -> tuple[TrainedModel, ...]:
        """All members."""
        return self.parts


def load_models(
    paths: Sequence[str | os.PathLike[str]],
    weights: Sequence[float] | None = None,
    *,
    dtype_policy: str | None = None,
) -> TrainedModel:
    """Build the model of one run, or those of several as an ensemble; see `load_ensemble`.

    Raises:
        UserError: a model cannot be loaded, or the models do not fit together.
    """
    if len(paths) == 1:
        return load_model(paths[0], dtype_policy=dtype_policy)
    return load_ensemble(paths, weights, dtype_policy=dtype_policy)


def load_ensemble(
    paths: Sequence[str | os.PathLike[str]],
    weights: Sequence[float] | None = None,
    *,
    dtype_policy: str | None = None,
) -> TrainedEnsemble:
    """Build the models of several runs as one that averages their probabilities.

    Args:
        paths: runs or checkpoints, see `load_model`.
        weights: see `Ensemble`.
        dtype_policy: see `load_model`.

    Raises:
        UserError: a model cannot be loaded, or the models do not fit together: vocabularies or
            directions differ, two read different features with the same name, or the weights are
            wrong.
    """
    found = [checkpoints.resolve(path) for path in paths]
    records = [find_record(checkpoint) for checkpoint in found]
    # Differences are found before any weights are read.
    for checkpoint, record in zip(found[1:], records[1:], strict=True):
        _check_fits(record, checkpoint, records[0], found[0])
    parts = tuple(load_model(checkpoint, dtype_policy=dtype_policy) for checkpoint in found)
    model = Ensemble([part.model for part in parts], weights=weights)
    first = parts[0]
    return TrainedEnsemble(model, first.record, first.checkpoint, first.step, parts)


def _check_fits(record: RunRecord, name: str, first: RunRecord, first_name: str) -> None:
    """Check that a member reads and writes the ids of the first one."""
    both = "the members of an ensemble need the same source and target vocabularies"
    one, other = record.problem, first.problem
    if one and other and one != other and one.removesuffix("_rev") == other.removesuffix("_rev"):
        raise UserError(
            f"{name} is a run of {one} and {first_name} of {other}: they translate in opposite "
            "directions"
        )
    for side, own, wanted in zip(
        ("source", "target"), _vocabularies(record), _vocabularies(first), strict=True
    ):
        if own[0] != wanted[0]:
            raise UserError(
                f"{name} has {own[0]} entries in its {side} vocabulary, {first_name} {wanted[0]}; "
                f"{both}"
            )
        # A run that was imported without a vocabulary has no checksum.
        if own[1] != wanted[1] and own[1] and wanted[1]:
            raise UserError(
                f"the {side} vocabulary of {name} is not that of {first_name}, although it has as "
                f"many entries (their checksums differ); {both}"
            )


def _vocabularies(record: RunRecord) -> tuple[tuple[int, str], tuple[int, str]]:
    """Return the size and checksum of the source's and of the target's vocabulary."""
    source = (record.vocab_size, record.vocabulary)
    if record.target_vocab_size is None:
        return source, source
    return source, (record.target_vocab_size, record.target_vocabulary)
