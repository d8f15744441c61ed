"""Writes a model as ONNX graphs: its encoder, and one step of its decoder."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Mapping
from typing import Any

from t2t_phrase.config import UserError
from t2t_phrase.export.backend import check_tensorflow
from t2t_phrase.export.onnx_axes import AXES
from t2t_phrase.export.onnx_check import check_same
from t2t_phrase.export.onnx_conversion import OPSET, check_packages
from t2t_phrase.export.onnx_graphs import NEXT, OnnxGraphs, make_graphs
from t2t_phrase.export.saved_model import ABOUT_FILE, stored
from t2t_phrase.export.servable import check_searched_alone
from t2t_phrase.export.staging import publish, staging
from t2t_phrase.export.vocabulary_files import vocabulary_files, write_vocabularies
from t2t_phrase.io.files import expanded
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.models.ensemble import Ensemble
from t2t_phrase.special_ids import EOS_ID, PAD_ID, UNK_ID
from t2t_phrase.text.vocabularies import Vocabularies

# By the name of an input or output, or by the first part of its name.
_MEANINGS = {
    "inputs": f"ids of the source tokens; EOS, {EOS_ID}, ends each sentence; {PAD_ID} is padding",
    "beams": "number of hypotheses of each sentence",
    "memory": "of the source, the same in all steps",
    "cache": "of the tokens so far",
    "ids": f"last token of each hypothesis; {PAD_ID} before the first one",
    "parents": "hypothesis of the previous step that each one continues; 0 before the first token",
    "index": "number of the step, counted from 0",
    "logits": "of the next token, before the softmax",
    f"{NEXT}cache": f"input of the next step, where it is named without {NEXT}",
}


def export_onnx(
    model: EncoderDecoder,
    vocabularies: Vocabularies,
    export_dir: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
) -> pathlib.Path:
    """Write the next version of a model for ONNX and return its folder, `export_dir/N`.

    The folder holds `encoder.onnx` and `step.onnx`, see `onnx_graphs.make_graphs`, the files of the
    vocabularies, and `export.json`: `about`, and the inputs and outputs of both graphs.

    Args:
        model: an encoder-decoder on Keras' TensorFlow backend; it is exported in float32.
        vocabularies: the vocabularies of both sides.
        export_dir: folder of all versions.
        about: JSON-ready facts, such as the checkpoint.

    Raises:
        UserError: tf2onnx is not installed, or cannot convert the model; the graphs give other
            logits than the model; the model has its own search, is an ensemble, or has too large
            weights; or the folder cannot be written.
        WriteError: the disk is full or fails.
    """
    check_tensorflow()
    source, target = (stored(encoder) for encoder in vocabularies)
    check_searched_alone(model, "onnx")
    if isinstance(model, Ensemble):
        raise UserError(
            "--format=onnx: an ensemble is searched as a whole, but an ONNX step is that of a "
            "single model; export a SavedModel of it"
        )
    check_packages()
    folder = expanded(export_dir)
    with staging(folder) as temporary:
        single = in_float32(model)
        graphs = make_graphs(single)
        check_same(single, graphs)
        facts = {
            **(about or {}),
            "vocabularies": list(vocabulary_files(source, target)),
            "special_ids": {"pad": PAD_ID, "eos": EOS_ID, "unk": UNK_ID},
            **description(graphs),
        }
        for name, graph in (("encoder", graphs.encoder), ("step", graphs.step)):
            (temporary / f"{name}.onnx").write_bytes(graph.SerializeToString())
        write_vocabularies(source, target, temporary)
        (temporary / ABOUT_FILE).write_text(json.dumps(facts, indent=2) + "\n")
        return publish(temporary, folder)


def in_float32(model: EncoderDecoder) -> EncoderDecoder:
    """Return a model that computes in float32 with the same weights: the given one, or a copy."""
    if model.compute_dtype == "float32":
        return model
    copy = type(model).from_hparams(
        model.hparams.replace(dtype_policy="float32"),
        vocab_size=model.vocab_size,
        target_vocab_size=model.target_vocab_size,
    )
    copy.set_weights(model.get_weights())
    return copy


def description(graphs: OnnxGraphs) -> dict[str, Any]:
    """Return the facts about inputs and outputs, ready for JSON."""
    return {
        "opset": OPSET,
        "axes": AXES,
        "graphs": {
            f"{name}.onnx": {
                "inputs": [_tensor(value, graphs) for value in model.graph.input],
                "outputs": [_tensor(value, graphs) for value in model.graph.output],
            }
            for name, model in (("encoder", graphs.encoder), ("step", graphs.step))
        },
    }


def _tensor(value: Any, graphs: OnnxGraphs) -> dict[str, Any]:
    from onnx import helper

    kind = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    first = value.name.partition("/")[0]
    return {
        "name": value.name,
        "type": kind.name,
        "shape": list(graphs.axes[value.name]),
        "meaning": _MEANINGS.get(first, "feature of each source token"),
    }
