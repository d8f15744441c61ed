"""Writes a SavedModel as TensorFlow Serving wants it: one folder, one number a version."""

from __future__ import annotations

import errno
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.text.encoders import StoredEncoder
from t2t_phrase.text.vocabularies import Encoder, Vocabularies

ABOUT_FILE = "export.json"


def export(
    model: EncoderDecoder,
    vocabularies: Vocabularies,
    hparams: DecodeHParams,
    export_dir: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
) -> pathlib.Path:
    """Write the next version of a served model and return its folder, `export_dir/N`.

    The folder appears under its number only when it is complete. The vocabularies are part of the
    graph; copies lie under `assets/`, for people. `about` is kept in `assets.extra/export.json`.

    Args:
        model: an encoder-decoder on Keras' TensorFlow backend.
        vocabularies: of both sides, as t2t-phrase-datagen makes them.
        hparams: how to search.
        export_dir: folder of all versions.
        about: JSON-ready facts, such as the checkpoint.

    Raises:
        UserError: another Keras backend, a vocabulary of tensor2tensor, sampling, a feature that
            cannot be computed in a graph, or a folder that cannot be written.
    """
    if keras.backend.backend() != "tensorflow":
        raise UserError(
            f"KERAS_BACKEND={keras.backend.backend()}: only models on TensorFlow can be exported; "
            "unset it or set KERAS_BACKEND=tensorflow"
        )
    folder = pathlib.Path(export_dir).expanduser()
    source, target = (_stored(encoder) for encoder in vocabularies)
    module = ServingModule(model, source, target, hparams)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Not a number, so a server that watches the folder does not look inside.
        temporary = pathlib.Path(tempfile.mkdtemp(prefix=".unfinished-", dir=folder))
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror or error}") from error
    try:
        shared = source is target
        files = {"vocabulary": source} if shared else {"source": source, "target": target}
        _save(module, files, temporary)
        extra = temporary / "assets.extra"
        extra.mkdir()
        facts = {**(about or {}), "decode_hparams": hparams.to_dict()}
        (extra / ABOUT_FILE).write_text(json.dumps(facts, indent=2) + "\n")
        # mkdtemp makes folders that only their owner may read; a server is often someone else.
        temporary.chmod(0o755)
        return _rename_to_next_version(temporary, folder)
    except (OSError, tf.errors.OpError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise UserError(f"cannot write {folder}: {reason}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _stored(encoder: Encoder) -> StoredEncoder:
    if not isinstance(encoder, StoredEncoder):
        raise UserError(
            "a model with tensor2tensor's own subwords cannot be exported: TensorFlow has no "
            "operation for them; use t2t-phrase-decoder"
        )
    return encoder


def _save(module: ServingModule, files: Mapping[str, StoredEncoder], folder: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        module.assets = []
        for name, encoder in files.items():
            path = pathlib.Path(scratch, f"{name}.{encoder.file_ending}")
            path.write_bytes(encoder.model_bytes)
            module.assets.append(tf.saved_model.Asset(str(path)))
        tf.saved_model.save(
            module,
            str(folder),
            signatures={
                "serving_default": module.translate,
                "nbest": module.nbest,
                "score": module.score,
            },
            options=tf.saved_model.SaveOptions(experimental_custom_gradients=False),
        )


def _rename_to_next_version(temporary: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    while True:
        versions = [int(path.name) for path in folder.iterdir() if path.name.isdecimal()]
        target = folder / str(max(versions, default=0) + 1)
        try:
            os.rename(temporary, target)
            return target
        except OSError as error:
            # Another export took the number in the meantime.
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
