"""Writes a SavedModel as TensorFlow Serving expects it: one numbered folder for each version."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import MakeExpansion
from t2t_phrase.decoding.shortlists import Shortlister
from t2t_phrase.export.backend import check_tensorflow
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.export.staging import check_loadable, publish, staging
from t2t_phrase.export.vocabulary_files import vocabulary_files
from t2t_phrase.io.files import expanded
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.text.encoders import SpellingEncoder
from t2t_phrase.text.vocabularies import Encoder, Vocabularies

ABOUT_FILE = "export.json"


def export(
    model: EncoderDecoder,
    vocabularies: Vocabularies,
    hparams: DecodeHParams,
    export_dir: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
    make_expansion: MakeExpansion | None = None,
    unknown_words: Mapping[str, str] | None = None,
    shortlister: Shortlister | None = None,
) -> pathlib.Path:
    """Write the next version of a served model and return its folder, `export_dir/N`.

    The folder appears under its number only when it is complete. The vocabularies are part of the
    graph, with copies for people in `assets/`. `about` is kept in `assets.extra/export.json`.

    Args:
        model: an encoder-decoder on Keras' TensorFlow backend.
        vocabularies: the vocabularies of both sides, as t2t-phrase-datagen makes them.
        hparams: the options of decoding.
        export_dir: folder of all versions.
        about: JSON-ready facts, such as the checkpoint.
        make_expansion: another way of continuing hypotheses, see `search.translate_ids.search`.
        unknown_words: with `replace_unknown`, see `Translator`.
        shortlister: proposes the target tokens of each sentence; None: all are searched.

    Raises:
        UserError: Keras uses another backend, a vocabulary is tensor2tensor's, the folder cannot be
            written or served from, or as for `ServingModule`.
        WriteError: the disk is full or fails.
    """
    check_tensorflow()
    folder = expanded(export_dir)
    check_loadable(folder)
    source, target = (stored(encoder) for encoder in vocabularies)
    with staging(folder) as temporary:
        module = ServingModule(
            model, source, target, hparams, make_expansion, unknown_words, shortlister
        )
        _save(module, vocabulary_files(source, target), temporary)
        extra = temporary / "assets.extra"
        extra.mkdir()
        facts = {**(about or {}), "decode_hparams": hparams.to_dict()}
        (extra / ABOUT_FILE).write_text(json.dumps(facts, indent=2) + "\n")
        return publish(temporary, folder)


def stored(encoder: Encoder) -> SpellingEncoder:
    """Return an encoder whose vocabulary is a file that can be exported.

    Raises:
        UserError: the vocabulary consists of tensor2tensor's own subwords.
    """
    if not isinstance(encoder, SpellingEncoder):
        raise UserError(
            "a model with tensor2tensor's own subwords cannot be exported or served: TensorFlow "
            "has no operation for them; use t2t-phrase-decoder"
        )
    return encoder


def _save(
    module: ServingModule, files: Mapping[str, SpellingEncoder], folder: pathlib.Path
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        module.assets = []
        for name, encoder in files.items():
            path = pathlib.Path(scratch, name)
            path.write_bytes(encoder.model_bytes)
            module.assets.append(tf.saved_model.Asset(str(path)))
        tf.saved_model.save(
            module,
            str(folder),
            signatures=module.signatures(),
            options=tf.saved_model.SaveOptions(experimental_custom_gradients=False),
        )
    _forget_gradients(folder / tf.saved_model.SAVED_MODEL_FILENAME_PB)


def _forget_gradients(path: pathlib.Path) -> None:
    """Remove the names of gradients that are not saved, about which loading would warn."""
    saved = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    for meta_graph in saved.meta_graphs:
        graph = meta_graph.graph_def
        for nodes in (graph.node, *(function.node_def for function in graph.library.function)):
            for node in nodes:
                node.attr.pop("_gradient_op_type", None)
    path.write_bytes(saved.SerializeToString())
