"""Copies of a run's vocabularies in its folder, so that a run can be used without its data."""

from __future__ import annotations

import hashlib
import pathlib

from t2t_phrase.config import UserError
from t2t_phrase.io import files
from t2t_phrase.runs.record import RunRecord
from t2t_phrase.text.encoders import StoredEncoder, load_encoder
from t2t_phrase.text.vocabularies import JOINT_FILE, SIDE_FILES, Vocabularies


def keep_vocabularies(vocabularies: Vocabularies, folder: pathlib.Path) -> None:
    """Write the vocabularies of a run into its folder.

    Args:
        vocabularies: the vocabularies.
        folder: folder of the run.

    Raises:
        WriteError: the disk is full, or the folder is not writable.
    """
    for name, encoder in zip(_names(shared=vocabularies.shared), vocabularies, strict=False):
        if isinstance(encoder, StoredEncoder):
            files.write(folder / name, encoder.model_bytes)


def copy_vocabularies(source: pathlib.Path, target: pathlib.Path) -> None:
    """Copy the vocabularies in a folder to another folder.

    Raises:
        WriteError: the disk is full, or the folder is not writable.
    """
    for name in (JOINT_FILE, *SIDE_FILES):
        if (source / name).is_file():
            files.write(target / name, (source / name).read_bytes())


def kept_vocabularies(folder: pathlib.Path, record: RunRecord) -> Vocabularies | None:
    """Return the vocabularies that a folder has; None: it has none.

    Args:
        folder: folder of a run, or of its best or averaged checkpoint.
        record: record of the run.

    Raises:
        UserError: a file is damaged, or one of two is missing.
    """
    names = _names(shared=record.target_vocab_size is None)
    paths = [folder / name for name in names]
    if not any(path.is_file() for path in paths):
        return None
    checksums = (record.vocabulary, record.target_vocabulary)
    found = []
    for path, checksum in zip(paths, checksums, strict=False):
        encoder = load_encoder(path)
        if hashlib.sha256(encoder.model_bytes).hexdigest() != checksum:
            raise UserError(
                f"{path} is damaged: its checksum differs from that in hparams.json; "
                "restore it, or delete it and give --data_dir"
            )
        found.append(encoder)
    return Vocabularies(found[0], found[-1])


def _names(*, shared: bool) -> tuple[str, ...]:
    return (JOINT_FILE,) if shared else SIDE_FILES
