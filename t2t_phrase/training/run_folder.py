"""The folder of a training run: the record of its settings, and checks before it is resumed."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Callable

from t2t_phrase.config import UserError
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import FILE as COMMANDS
from t2t_phrase.runs.directory import BEST
from t2t_phrase.runs.kept_vocabularies import keep_vocabularies
from t2t_phrase.runs.load_model import run_above
from t2t_phrase.runs.record import FILE, RunRecord
from t2t_phrase.runs.vocabulary import checksums
from t2t_phrase.text.subwords.t2t_subwords import T2TSubwords
from t2t_phrase.text.vocabularies import Encoder, Vocabularies
from t2t_phrase.training.run_options import RunOptions
from t2t_phrase.training.schedules import FactorSchedule

# The number of rows of the embedding is a multiple of this, for the sake of matrix units.
VOCAB_MULTIPLE = 8


def make_record(
    options: RunOptions,
    vocabularies: Vocabularies,
    schedule: FactorSchedule,
    *,
    shards: int,
) -> RunRecord:
    """Return the record of a run whose batches have this many shards."""
    hparams = options.hparams
    source_checksum, target_checksum = checksums(vocabularies)
    return RunRecord(
        problem=options.problem.name,
        model=options.model,
        hparams_set=options.hparams_set,
        overrides=options.overrides,
        hparams=hparams.to_dict(),
        vocab_size=_rows(vocabularies.source),
        vocabulary=source_checksum,
        target_vocab_size=None if vocabularies.shared else _rows(vocabularies.target),
        target_vocabulary=target_checksum,
        random_seed=options.random_seed,
        replicas=shards,
        train_steps=schedule.train_steps if schedule.may_read_train_steps else 0,
        data=options.problem.data_digest(
            options.data_dir, hparams.training_features, hparams.sampled_segmentations
        ),
        t2t_usr_dir=options.t2t_usr_dir,
    )


def _rows(encoder: Encoder) -> int:
    """Return the number of rows of the embedding of a vocabulary."""
    if isinstance(encoder, T2TSubwords):
        # As in tensor2tensor, so that embeddings can be taken from an imported run.
        return encoder.vocab_size
    return -(-encoder.vocab_size // VOCAB_MULTIPLE) * VOCAB_MULTIPLE


def replicas_of_earlier(options: RunOptions) -> int:
    """Return the number of equal parts of a batch in the run that is resumed; 0: no such run."""
    if not checkpoints.complete(options.output_dir):
        return 0
    return RunRecord.load(options.output_dir).replicas


def check_folder(options: RunOptions, record: RunRecord, log: Callable[[str], None]) -> None:
    """Check that the folder holds checkpoints of this run, or none at all."""
    folder = pathlib.Path(options.output_dir)
    best = checkpoints.complete(folder / BEST)
    if options.saves and (run := run_above(folder)) is not None:
        raise UserError(
            f"--output_dir={folder} belongs to the run in {run}, which keeps its checkpoint there; "
            f"give a new --output_dir, and --warm_start_from={folder} to start from these weights"
        )
    if checkpoints.complete(folder):
        earlier = RunRecord.load(folder)
        if options.evaluate and not options.saves:
            # An evaluation makes no updates.
            record = dataclasses.replace(
                record, train_steps=earlier.train_steps, replicas=earlier.replicas
            )
        record.check_same(earlier, folder)
    elif best:
        raise UserError(
            f"--output_dir={folder} holds no checkpoint to resume from, but {best[-1]}, which a "
            f"new run would replace; move {folder / BEST} away, or give a new --output_dir "
            f"(and --warm_start_from={folder / BEST} to start from these weights)"
        )
    elif (folder / FILE).exists():
        log(f"{folder} holds a run that saved no checkpoint: starting over")


def claim_folder(
    output_dir: str | os.PathLike[str], record: RunRecord, vocabularies: Vocabularies
) -> None:
    """Record the run and its vocabularies in a folder without checkpoints."""
    folder = pathlib.Path(output_dir)
    if not checkpoints.complete(folder):
        folder.mkdir(parents=True, exist_ok=True)
        # The flags of an attempt that saved nothing are not those of this run.
        (folder / COMMANDS).unlink(missing_ok=True)
        keep_vocabularies(vocabularies, folder)
        record.save(folder)
