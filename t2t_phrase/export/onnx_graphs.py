"""The encoder and the decoding step of a model as ONNX graphs.

Shapes: B sentences, S source tokens, K beams, V target vocabulary size. All but V are known only
when the graphs run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from keras import tree

from t2t_phrase.decoding.search.batch_decoder import start_decoder
from t2t_phrase.export.named_leaves import named_leaves, with_leaves
from t2t_phrase.export.onnx_axes import Axes, name_axes, try_shapes
from t2t_phrase.export.onnx_conversion import Tensors, conversion, inputs_read, to_onnx
from t2t_phrase.models.base import EncoderDecoder

# Prefix of the names of a step's outputs that the next step reads.
NEXT = "next_"
_IDS = tf.TensorSpec((None, None), tf.int32)
_NUMBER = tf.TensorSpec((), tf.int32)
_LAST = {"ids": _IDS, "parents": _IDS, "index": _NUMBER}
_LAST_AXES: dict[str, Axes] = {"ids": ("B", "K"), "parents": ("B", "K"), "index": ()}


class OnnxGraphs(NamedTuple):
    """The graphs of a model.

    Attributes:
        encoder: `onnx.ModelProto`, from the source to all that a step reads of it.
        step: `onnx.ModelProto`, from the last tokens to the logits of the next ones.
        axes: the axes of their inputs and outputs by name, see `onnx_axes.AXES`.
    """

    encoder: Any
    step: Any
    axes: dict[str, Axes]


def make_graphs(model: EncoderDecoder) -> OnnxGraphs:
    """Return the graphs of a model, which hold its weights and values computed from them alone.

    The encoder maps "inputs" (B, S), the features of the source (B, S) by name, and "beams" (), K,
    to "memory/..." and "cache/...". The step maps "ids" (B, K), the last tokens; "parents" (B, K),
    the beams that they continue; "index" (), the time; "memory/..." and "cache/..." to "logits"
    (B, K, V) float32 and "next_cache/...". Integers are int32.

    Args:
        model: a model that computes in float32.

    Raises:
        UserError: as for `to_onnx`.
    """
    folded = tree.map_structure(np.asarray, model.fold_weights())
    features = [feature.name for feature in model.hparams.features if feature.side == "source"]
    inputs = {**dict.fromkeys(["inputs", *features], _IDS), "beams": _NUMBER}
    # "memory" and "cache", with a constant or a `tf.TensorSpec` in place of each tensor.
    state: dict[str, Any] = {}

    def encode(given: Tensors) -> dict[str, Any]:
        found, specs = _encode(model, folded, given)
        state.update(specs)
        return found

    def step(given: Tensors) -> dict[str, Any]:
        return _step(model, state, given)

    with conversion("encoder"):
        axes = try_shapes(encode, inputs)
    specs = {
        name: leaf
        for prefix, structure in state.items()
        for name, leaf in named_leaves(structure, prefix).items()
        if name in axes
    }
    step_model = to_onnx(step, {**_LAST, **specs}, name="step")
    # Some of the memory may have been needed only to start the cache.
    read = inputs_read(step_model)
    unread = {name for name in specs if name.startswith("memory/") and name not in read}
    for value in [value for value in step_model.graph.input if value.name in unread]:
        step_model.graph.input.remove(value)

    def encode_read(given: Tensors) -> dict[str, Any]:
        return {name: tensor for name, tensor in encode(given).items() if name not in unread}

    encoder_model = to_onnx(encode_read, inputs, name="encoder")
    axes = {
        **{name: ("B", "S") for name in inputs},
        "beams": (),
        **_LAST_AXES,
        **{name: own for name, own in axes.items() if name not in unread},
        **{f"{NEXT}{name}": own for name, own in axes.items() if name.startswith("cache/")},
        "logits": ("B", "K", model.target_vocab_size or model.vocab_size),
    }
    for converted in (encoder_model, step_model):
        name_axes(converted.graph, axes)
    return OnnxGraphs(encoder_model, step_model, axes)


def _encode(
    model: EncoderDecoder, folded: Any, given: Tensors
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the state before the first token by name, and its structure.

    Args:
        model: see `make_graphs`.
        folded: the values of the model's `fold_weights`, as constants.
        given: the source, its features, and "beams".
    """
    # A tensor that a graph captures would be one of its inputs.
    weights = tree.map_structure(tf.constant, folded)
    flat = zip(tree.flatten(weights), tree.flatten(folded), strict=True)
    constants = {id(tensor): value for tensor, value in flat}
    features = {name: tensor for name, tensor in given.items() if name != "beams"}
    decoder = start_decoder(
        model, features, beam_size=given["beams"], length=0, folded=weights, growing=True
    )
    state = {"memory": decoder.memory, "cache": decoder.cache}
    leaves = {
        name: tensor
        for prefix, structure in state.items()
        for name, tensor in named_leaves(structure, prefix).items()
    }
    found = {name: tensor for name, tensor in leaves.items() if id(tensor) not in constants}

    def constant_or_spec(tensor: Any) -> Any:
        known = constants.get(id(tensor))
        return tf.TensorSpec(tensor.shape, tensor.dtype) if known is None else known

    return found, tree.map_structure(constant_or_spec, state)


def _step(model: EncoderDecoder, state: Mapping[str, Any], given: Tensors) -> dict[str, Any]:
    """Return the logits and the next cache by name.

    Args:
        model: see `make_graphs`.
        state: the structure of "memory" and "cache", from `_encode`.
        given: the inputs of the step.
    """

    def filled(prefix: str) -> Any:
        leaves = named_leaves(state[prefix], prefix).items()
        tensors = {
            name: given[name] if isinstance(leaf, tf.TensorSpec) else tf.constant(leaf)
            for name, leaf in leaves
        }
        return with_leaves(state[prefix], prefix, tensors)

    cache = model.reorder(filled("cache"), given["parents"])
    found = model.step(given["ids"], given["index"], filled("memory"), cache)
    return {"logits": found.logits, **named_leaves(found.cache, f"{NEXT}cache")}
