"""The vocabularies that belong to a trained model."""

from __future__ import annotations

import hashlib
import pathlib

from t2t_phrase.config import UserError
from t2t_phrase.io.files import sha256_of
from t2t_phrase.runs.kept_vocabularies import kept_vocabularies
from t2t_phrase.runs.load_model import TrainedModel, run_above
from t2t_phrase.runs.problem import problem_of
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.text.encoders import StoredEncoder
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.vocabularies import T2T_TARGET_VOCABULARY, T2T_VOCABULARY, Vocabularies


def run_vocabularies(
    trained: TrainedModel, *, data_dir: str | None, problem: str | None = None
) -> Vocabularies:
    """Return the vocabularies of a model.

    A model imported from tensor2tensor may have brought its own.

    Args:
        trained: the model.
        data_dir: folder of the vocabularies from t2t-phrase-datagen; None: the run's own copies.
        problem: problem of the vocabularies, if the run does not name one.

    Raises:
        UserError: the vocabularies cannot be found, or are not those that the model was trained
            with.
    """
    files = imported_files(trained.checkpoint, trained.record)
    if files:
        return _imported_vocabularies(files, trained.record)
    if not data_dir and (kept := find_kept(trained.checkpoint, trained.record)):
        return kept
    name = trained.record.problem or problem
    if not name:
        raise UserError(
            f"{trained.checkpoint} does not say which problem it is for: give --problem"
        )
    if not data_dir:
        raise UserError(f"--data_dir is needed: the vocabulary of {name} is there")
    vocabularies = problem_of(trained.record, problem).vocabularies(data_dir)
    check_vocabularies(vocabularies, trained.record, f"{name} in --data_dir={data_dir}")
    return vocabularies


def find_kept(checkpoint: str, record: RunRecord) -> Vocabularies | None:
    """Return the vocabularies next to a checkpoint, or those of the run above; None: neither.

    Args:
        checkpoint: a checkpoint of the run, or in a folder such as `averaged/` below it.
        record: record of the run.

    Raises:
        UserError: a file is damaged.
    """
    folder = pathlib.Path(checkpoint).parent
    found = (
        kept_vocabularies(place, record) for place in filter(None, (folder, run_above(folder)))
    )
    return next(filter(None, found), None)


def checksums(vocabularies: Vocabularies) -> tuple[str, str]:
    """Return the checksums that `RunRecord` keeps of the source and target vocabularies."""
    source, target = (
        hashlib.sha256(encoder.model_bytes).hexdigest()
        if isinstance(encoder, StoredEncoder)
        else ""
        for encoder in vocabularies
    )
    return source, "" if vocabularies.shared else target


def check_vocabularies(vocabularies: Vocabularies, record: RunRecord, place: str) -> None:
    """Check that these are the vocabularies of a run.

    Args:
        vocabularies: the vocabularies found in `place`.
        record: record of the run.
        place: name of the place in messages.

    Raises:
        UserError: the vocabularies differ.
    """
    if vocabularies.shared != (record.target_vocab_size is None):
        kinds = ("one vocabulary for both languages", "a vocabulary for each language")
        found, trained = kinds if vocabularies.shared else kinds[::-1]
        raise UserError(
            f"{place} has {found}, but the model was trained with {trained}; give the --data_dir "
            "of the training run"
        )
    sizes = (record.vocab_size, record.target_vocab_size or record.vocab_size)
    recorded = (record.vocabulary, record.target_vocabulary)
    for encoder, size, expected, found in zip(
        vocabularies, sizes, recorded, checksums(vocabularies), strict=True
    ):
        if encoder.vocab_size > size:
            raise UserError(
                f"the vocabulary of {place} has {encoder.vocab_size} entries, the model only "
                f"{size}: it was trained on different data"
            )
        if expected and expected != found:
            raise UserError(
                f"the vocabulary of {place} is not the one that the model was trained with (its "
                "checksum differs); give the --data_dir of the training run"
            )


def check_same_texts(
    vocabularies: Vocabularies, first: TrainedModel, second: TrainedModel, place: str
) -> None:
    """Check that two models read the same ids of the same languages.

    Args:
        vocabularies: vocabularies of the first model.
        first: the model that the second one helps.
        second: the second model.
        place: origin of the second model, as named in messages.

    Raises:
        UserError: the second translates between other languages, or has other vocabularies.
    """
    records = first.record, second.record
    if all(record.problem for record in records):
        one, other = map(problem_of, records)
        ways = [f"{p.source_language} to {p.target_language}" for p in (one, other)]
        if ways[0] != ways[1]:
            raise UserError(
                f"{place}: it was trained on {other.name}, from {ways[1]}, but "
                f"{first.checkpoint} translates from {ways[0]}; give a run of {one.name}"
            )
    try:
        check_vocabularies(vocabularies, second.record, f"{first.checkpoint}")
    except UserError as error:
        raise UserError(
            f"{place}: its vocabularies differ from those of {first.checkpoint}, but both models "
            f"must read the same ids: {error}"
        ) from error


def imported_files(checkpoint: str, record: RunRecord) -> list[pathlib.Path]:
    """Return the files of the vocabularies that an imported run brought; none for other runs.

    Args:
        checkpoint: a checkpoint of the imported run, or in a folder such as `averaged/` below it.
        record: record of the run.
    """
    # Only a run without a problem of this library brings its own vocabularies.
    folder = pathlib.Path(checkpoint).parent
    places = [] if record.problem else [folder, run_above(folder)]
    for place in filter(None, places):
        if (place / T2T_VOCABULARY).exists():
            found = [place / T2T_VOCABULARY, place / T2T_TARGET_VOCABULARY]
            return [path for path in found if path.exists()]
    return []


def _imported_vocabularies(files: list[pathlib.Path], record: RunRecord) -> Vocabularies:
    sides = 1 if record.target_vocab_size is None else 2
    if len(files) != sides:
        raise UserError(
            f"{files[0].parent} must hold {T2T_VOCABULARY} and, only if the target has a "
            f"vocabulary of its own, {T2T_TARGET_VOCABULARY}: import the run again"
        )
    encoders = []
    sizes = (record.vocab_size, record.target_vocab_size)
    recorded = (record.vocabulary, record.target_vocabulary)
    for path, size, checksum in zip(files, sizes, recorded, strict=False):
        encoder = T2TSubwords.load(path)
        if encoder.vocab_size != size or sha256_of(path) != checksum:
            raise UserError(
                f"{path} is damaged: it is not as it was imported; replace it with the vocabulary "
                "that was given to t2t-phrase-import"
            )
        encoders.append(encoder)
    return Vocabularies(encoders[0], encoders[-1])
