"""Writes a Transformer in CTranslate2's format."""

from __future__ import annotations

import json
import math
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.export.saved_model import ABOUT_FILE, stored
from t2t_phrase.export.servable import check_searched_alone
from t2t_phrase.export.staging import publish, staging
from t2t_phrase.export.vocabulary_files import write_vocabularies
from t2t_phrase.io.files import expanded
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.ops.position import timing_signal
from t2t_phrase.special_ids import EOS_ID, PAD_ID, UNK_ID
from t2t_phrase.text.encoders import SpellingEncoder
from t2t_phrase.text.vocabularies import Vocabularies

# Rows of CTranslate2's table of positions; it refuses longer sentences.
POSITIONS = 4096


def export_ctranslate2(
    model: EncoderDecoder,
    vocabularies: Vocabularies,
    export_dir: str | os.PathLike[str],
    *,
    about: Mapping[str, Any] | None = None,
) -> pathlib.Path:
    """Write the next version of a model for CTranslate2 and return its folder, `export_dir/N`.

    Beside CTranslate2's `model.bin`, `config.json` and vocabularies, the folder holds the files of
    our vocabularies, which split text into tokens and join them, and `export.json` with `about`.

    Args:
        model: a plain Transformer.
        vocabularies: the vocabularies of both sides.
        export_dir: folder of all versions.
        about: JSON-ready facts, such as the checkpoint.

    Raises:
        UserError: CTranslate2 is not installed, or cannot run the model; or the folder cannot be
            written.
        WriteError: the disk is full or fails.
    """
    source, target = (stored(encoder) for encoder in vocabularies)
    check_searched_alone(model, "ctranslate2")
    reason = cannot_export(model)
    if reason:
        raise UserError(f"--format=ctranslate2: {reason}; export a SavedModel of it")
    assert isinstance(model, Transformer)
    spec = make_spec(model, source, target)
    folder = expanded(export_dir)
    with staging(folder) as temporary:
        spec.save(str(temporary))
        write_vocabularies(source, target, temporary)
        (temporary / ABOUT_FILE).write_text(json.dumps(dict(about or {}), indent=2) + "\n")
        return publish(temporary, folder)


def cannot_export(model: EncoderDecoder) -> str:
    """Return why CTranslate2 cannot run a model; empty if it can."""
    if type(model) is not Transformer:
        return (
            f"CTranslate2 runs plain Transformers only, and has no operation for what a "
            f"{type(model).__name__} adds"
        )
    if model.hparams.max_relative_position and model.hparams.pos != "none":
        return (
            f"CTranslate2 has no model with both absolute positions, pos={model.hparams.pos}, and "
            f"relative ones, max_relative_position={model.hparams.max_relative_position}"
        )
    return ""


def make_spec(model: Transformer, source: SpellingEncoder, target: SpellingEncoder) -> Any:
    """Return CTranslate2's description of a model, with its weights.

    Raises:
        UserError: CTranslate2 is not installed.
    """
    try:
        from ctranslate2 import specs
    except ImportError as error:
        raise UserError(
            "--format=ctranslate2 needs the package ctranslate2, which cannot be imported "
            f"({error}); pip install 't2t_phrase[ctranslate2]'"
        ) from error
    hparams = model.hparams
    relative = bool(hparams.max_relative_position)
    shape = {"pre_norm": hparams.norm == "pre", "relative_position": relative}
    heads = hparams.num_heads
    spec = specs.TransformerSpec(
        specs.TransformerEncoderSpec(len(model.encoder_layers), heads, **shape),
        specs.TransformerDecoderSpec(len(model.decoder_layers), heads, **shape),
    )
    # The vector that stands for the kind of text is added to every source token.
    space = _array(model.target_space.embeddings)[hparams.target_space_id]
    scale = math.sqrt(hparams.hidden_size)
    embedding = _array(model.source_embedding.kernel)
    spec.encoder.embeddings[0].weight = embedding + space / scale if relative else embedding
    spec.decoder.embeddings.weight = _array(model.target_embedding.kernel)
    spec.decoder.projection.weight = _array(model.softmax.kernel)
    if not relative:
        timing = np.zeros((POSITIONS, hparams.hidden_size), np.float32)
        if hparams.pos == "timing":
            timing += np.asarray(timing_signal(np.arange(POSITIONS), hparams.hidden_size))
        spec.encoder.position_encodings.encodings = timing + space
        spec.decoder.position_encodings.encodings = timing
    # The decoder reads a zero vector before its first token.
    spec.decoder.start_from_zero_embedding = True
    for own, theirs in zip(model.encoder_layers, spec.encoder.layer, strict=True):
        _self_attention(theirs.self_attention, own.self_attention)
        _norm(theirs.self_attention.layer_norm, own.attention_residual.normalize)
        _feed_forward(theirs.ffn, own)
    for own, theirs in zip(model.decoder_layers, spec.decoder.layer, strict=True):
        _self_attention(theirs.self_attention, own.self_attention)
        _norm(theirs.self_attention.layer_norm, own.self_residual.normalize)
        attention = own.cross_attention
        _maps(theirs.attention.linear[0], attention.query_map)
        _maps(theirs.attention.linear[1], attention.key_map, attention.value_map)
        _maps(theirs.attention.linear[2], attention.output_map)
        _norm(theirs.attention.layer_norm, own.cross_residual.normalize)
        _feed_forward(theirs.ffn, own)
    if hparams.norm == "pre":
        _norm(spec.encoder.layer_norm, model.encoder_norm)
        _norm(spec.decoder.layer_norm, model.decoder_norm)
    spec.config.layer_norm_epsilon = model.encoder_layers[0].feed_forward_residual.normalize.epsilon
    spec.config.add_source_eos = True
    specials = target.pieces([UNK_ID, EOS_ID, PAD_ID])
    spec.config.unk_token, spec.config.eos_token, spec.config.decoder_start_token = specials
    spec.config.bos_token = specials[2]
    spec.register_source_vocabulary(_tokens(source, len(spec.encoder.embeddings[0].weight)))
    spec.register_target_vocabulary(_tokens(target, len(spec.decoder.embeddings.weight)))
    spec.validate()
    spec.optimize()
    return spec


def _tokens(encoder: SpellingEncoder, rows: int) -> list[str]:
    """Return the token of each row of an embedding, which may have more rows than tokens."""
    size = encoder.vocab_size
    return [*encoder.pieces(range(size)), *(f"<unused {i}>" for i in range(size, rows))]


def _self_attention(spec: Any, attention: Any) -> None:
    _maps(spec.linear[0], attention.query_map, attention.key_map, attention.value_map)
    _maps(spec.linear[1], attention.output_map)
    if hasattr(spec, "relative_position_keys"):
        spec.relative_position_keys = _array(attention.relative_key)
        spec.relative_position_values = _array(attention.relative_value)


def _feed_forward(spec: Any, layer: Any) -> None:
    _norm(spec.layer_norm, layer.feed_forward_residual.normalize)
    for linear, dense in (
        (spec.linear_0, layer.feed_forward.inner),
        (spec.linear_1, layer.feed_forward.outer),
    ):
        _maps(linear, dense)
        linear.bias = _array(dense.bias)


def _maps(spec: Any, *denses: Any) -> None:
    """Set a linear map to the concatenated maps of one input; CTranslate2's are transposed."""
    spec.weight = np.concatenate([_array(dense.kernel).T for dense in denses])


def _norm(spec: Any, norm: Any) -> None:
    spec.gamma, spec.beta = _array(norm.gamma), _array(norm.beta)


def _array(variable: Any) -> np.ndarray:
    return np.array(variable, np.float32)
