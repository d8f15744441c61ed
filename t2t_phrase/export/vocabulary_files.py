"""The vocabulary files next to a model that runs without this library."""

from __future__ import annotations

import pathlib

from t2t_phrase.text.encoders import SpellingEncoder


def vocabulary_files(
    source: SpellingEncoder, target: SpellingEncoder
) -> dict[str, SpellingEncoder]:
    """Return the encoder of each file by the file's name, without a folder.

    A shared vocabulary is in `vocabulary.*`, separate ones are in `source.*` and `target.*`.
    """
    shared = source is target
    files = {"vocabulary": source} if shared else {"source": source, "target": target}
    return {f"{name}.{encoder.file_ending}": encoder for name, encoder in files.items()}


def write_vocabularies(
    source: SpellingEncoder, target: SpellingEncoder, folder: pathlib.Path
) -> None:
    """Write the files of both vocabularies, see `vocabulary_files`.

    Raises:
        OSError: a file cannot be written.
    """
    for name, encoder in vocabulary_files(source, target).items():
        (folder / name).write_bytes(encoder.model_bytes)
