"""Served models whose signatures are TensorFlow graphs: of a run, or of a SavedModel."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

# Registers the operations of SentencePiece, which SavedModels contain.
import tensorflow_text  # noqa: F401

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.search.translate_ids import MakeExpansion
from t2t_phrase.export.failed_assertions import failed_assertion
from t2t_phrase.export.saved_model import stored
from t2t_phrase.export.serving_module import ServingModule
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.serving.errors import RequestError
from t2t_phrase.serving.servable import Output, Servable, Signature
from t2t_phrase.text.encoders import StoredEncoder, load_encoder
from t2t_phrase.text.vocabularies import Vocabularies

# The names of the target's vocabulary in an export, see `export.saved_model`.
_VOCABULARIES = ("target.*", "vocabulary.*")


def servable_of_run(
    model: EncoderDecoder,
    vocabularies: Vocabularies,
    hparams: DecodeHParams,
    *,
    version: int,
    make_expansion: MakeExpansion | None = None,
    unknown_words: Mapping[str, str] | None = None,
) -> Servable:
    """Return a trained model with the signatures that its SavedModel would have.

    Args:
        model: an encoder-decoder on Keras' TensorFlow backend.
        vocabularies: the vocabularies of both sides.
        hparams: the options of decoding.
        version: the number of the version, such as the step of its checkpoint.
        make_expansion: see `ServingModule`.
        unknown_words: see `ServingModule`.

    Raises:
        UserError: as for `ServingModule`; or a vocabulary is tensor2tensor's, which has no graph.
    """
    source, target = (stored(encoder) for encoder in vocabularies)
    module = ServingModule(model, source, target, hparams, make_expansion, unknown_words)
    functions = {
        name: function.get_concrete_function() for name, function in module.signatures().items()
    }
    servable = Servable(version, _signatures(functions), _counter(target))
    _warm_up(servable)
    return servable


def servable_of_saved_model(folder: pathlib.Path) -> Servable:
    """Return a version that t2t-phrase-exporter wrote.

    Args:
        folder: the folder of the version, named after its number.

    Raises:
        UserError: the version cannot be loaded, or t2t-phrase-exporter did not write it.
    """
    try:
        loaded = tf.saved_model.load(str(folder))
        counter = _counter_of(folder / "assets")
        servable = Servable(int(folder.name), _signatures(loaded.signatures), counter)
        _warm_up(servable)
        return servable
    except UserError as error:
        raise UserError(f"{folder}: {error}") from None
    # TensorFlow raises errors of many types for files that are missing, cut off or damaged.
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{folder} is not a complete SavedModel: {reason}") from error


def _warm_up(servable: Servable) -> None:
    """Run each signature once, since the first call takes longest, and to see that it works."""
    for signature in servable.signatures.values():
        # A word, and also the text form of any feature, such as an integer for each word.
        signature.run([[b"1"]] * len(signature.inputs))


def _signatures(functions: Mapping[str, Any]) -> dict[str, Signature]:
    return {
        name: _signature(name, function)
        for name, function in functions.items()
        if not name.startswith("__")
    }


def _signature(name: str, function: Any) -> Signature:
    positional, named = function.structured_input_signature
    specs = [*positional, *named.values()]
    for spec in specs:
        if spec.dtype != tf.string or spec.shape.rank != 1:
            raise UserError(
                f"the input {spec.name} of {name} is not a list of strings, so this is not an "
                "export of t2t-phrase-exporter"
            )
    inputs = tuple(named) or tuple(spec.name for spec in positional)

    def run(columns: Sequence[Sequence[bytes]]) -> dict[str, list[Any]]:
        tensors = [tf.constant(column, tf.string) for column in columns]
        # A SavedModel takes its inputs by name, a function that was traced here by position.
        by_name = dict(zip(inputs, tensors, strict=True))
        try:
            found = function(**by_name) if named else function(*tensors)
        except tf.errors.InvalidArgumentError as error:
            if reason := failed_assertion(error):
                raise RequestError(400, reason) from error
            raise
        return {output: _values(value.numpy()) for output, value in found.items()}

    outputs = {
        output: Output(
            _type_name(spec.dtype),
            tuple(-1 if size is None else size for size in spec.shape.as_list()),
        )
        for output, spec in function.structured_outputs.items()
    }
    return Signature(name, inputs, outputs, run)


def _type_name(dtype: tf.DType) -> str:
    return f"DT_{dtype.name.upper()}".replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE")


def _values(array: np.ndarray) -> list[Any]:
    if array.dtype == np.float32:
        # The shortest digits that stand for the number; `tolist` would write those of a double.
        shortest = [float(str(value)) for value in array.ravel()]
        array = np.array(shortest, "float64").reshape(array.shape)
    values: list[Any] = array.tolist()
    return values


def _counter_of(assets: pathlib.Path) -> Callable[[Sequence[bytes]], int] | None:
    """Return a counter of tokens for a version; None: the version has no vocabulary file."""
    found = [path for pattern in _VOCABULARIES for path in sorted(assets.glob(pattern))]
    return _counter(load_encoder(found[0])) if found else None


def _counter(encoder: StoredEncoder) -> Callable[[Sequence[bytes]], int]:
    def count(texts: Iterable[bytes]) -> int:
        # EOS included.
        return sum(len(encoder.encode(text.decode(errors="replace"))) + 1 for text in texts)

    return count
