"""Compares ONNX graphs with the model that they were made from."""

from __future__ import annotations

from typing import Any

import numpy as np

from t2t_phrase.config import UserError
from t2t_phrase.export.onnx_graphs import NEXT, OnnxGraphs
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.special_ids import EOS_ID, UNK_ID

# Lengths of the sources, EOS included; some are much shorter than others.
_LENGTHS = (23, 8, 1)
_BEAMS, _STEPS = 2, 3
# Tolerance of the logits, as a share of the largest one.
_TOLERANCE = 1e-3


def check_same(model: EncoderDecoder, graphs: OnnxGraphs) -> None:
    """Check that the graphs give the logits of a model: a converter may fail silently.

    Args:
        model: an encoder-decoder that computes in float32.
        graphs: from `make_graphs`.

    Raises:
        UserError: the logits of a few random sentences differ, or a graph cannot be run.
    """
    features = _sources(model)
    memory = model.prepare_memory(features)
    cache = model.start_cache(memory, _BEAMS, _STEPS)
    rng = np.random.default_rng(1)
    shape = (len(_LENGTHS), _BEAMS)
    ids, parents = np.zeros(shape, "int32"), np.zeros(shape, "int32")
    state = {}
    for index in range(_STEPS):
        expected, cache, _ = model.step(ids, index, memory, model.reorder(cache, parents))
        try:
            if not index:
                encoder, step = (_session(each) for each in (graphs.encoder, graphs.step))
                state = _run(encoder, {**features, "beams": np.array(_BEAMS, "int32")})
            given = {"ids": ids, "parents": parents, "index": np.array(index, "int32")}
            found = _run(step, {**state, **given})
        except Exception as error:
            # onnxruntime has many error classes, without a common base class.
            reason = " ".join(str(error).split())[:300]
            raise UserError(
                f"--format=onnx: onnxruntime cannot run the converted graphs ({reason}); export a "
                "SavedModel of the model"
            ) from error
        expected, logits = np.asarray(expected), found.pop("logits")
        worst = np.abs(logits - expected).max() / max(1.0, np.abs(expected).max())
        if not worst < _TOLERANCE:
            raise UserError(
                f"--format=onnx: the logits of the converted graphs differ from the model's by "
                f"{worst:.1e}, so the translations would, too; export a SavedModel of it"
            )
        state |= {name.removeprefix(NEXT): value for name, value in found.items()}
        ids = rng.integers(UNK_ID, expected.shape[-1], size=shape, dtype="int32")
        parents = rng.integers(_BEAMS, size=shape, dtype="int32")


def _sources(model: EncoderDecoder) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    inputs = np.zeros((len(_LENGTHS), max(_LENGTHS)), "int32")
    for row, length in zip(inputs, _LENGTHS, strict=True):
        row[:length] = rng.integers(UNK_ID, model.vocab_size, size=length)
        row[length - 1] = EOS_ID
    others = [feature.name for feature in model.hparams.features if feature.side == "source"]
    # The model defines which numbers a feature may have; 1 is always allowed.
    return {"inputs": inputs, **{name: (inputs > 0).astype("int32") for name in others}}


def _session(model: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Fatal messages only: errors are also raised.
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _run(session: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))
