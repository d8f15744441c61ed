"""Exported models as Python objects that translate strings."""

from __future__ import annotations

import itertools
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

# Registers the operations of SentencePiece, which SavedModels contain.
import tensorflow_text  # noqa: F401

from t2t_phrase.config import UserError
from t2t_phrase.decoding.batches import make_batches
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.text_lists import check_list
from t2t_phrase.export.failed_assertions import failed_assertion
from t2t_phrase.export.staging import check_loadable
from t2t_phrase.io.reporting import note
from t2t_phrase.io.unicode_text import check_unicode

# Bytes per token, roughly; only the graph knows how many tokens a text has.
_TOKEN = 4


class ExportedTranslator:
    """A version that t2t-phrase-exporter wrote; it needs neither the run nor its data.

    The version is loaded on first use. It is pickled as its folder, so that it can be passed to
    workers of a cluster that have the same files.

    Args:
        path: the folder of a version, or of all versions, of which the latest is used.

    Raises:
        UserError: there is no version.

    Example:
        ```python
        model = t2t_phrase.ExportedTranslator("exported")
        model.translate(["A house ."])
        ```
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        folder = pathlib.Path(os.path.abspath(os.path.expanduser(path)))
        check_loadable(folder)
        if not (folder / "saved_model.pb").exists():
            names = [place.name for place in folder.glob("*") if place.name.isdecimal()]
            if not names:
                raise UserError(f"{path} holds no exported version")
            folder /= max(names, key=int)
        self.folder = folder
        self._loaded: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "_loaded": None}

    def translate(
        self, texts: Sequence[str], *, features: Mapping[str, Sequence[str]] | None = None
    ) -> list[str]:
        """Return the best translation of each text, in the same order; note which texts were cut.

        Args:
            texts: source sentences.
            features: for a model that reads them, the text form of each feature by name.

        Raises:
            UserError: a feature is missing or unknown, has another number of texts or does not fit
                its sentence, a text is not valid Unicode, or the version is damaged.
        """
        if self._loaded is None:
            self._loaded = _load(self.folder)
        function = self._loaded.signatures["serving_default"]
        inputs = {"text": texts, **(features or {})}
        expected = set(function.structured_input_signature[1])
        if inputs.keys() != expected:
            raise UserError(
                f"{self.folder} reads {', '.join(sorted(expected))}; got {', '.join(inputs)}"
            )
        inputs = {name: check_list(name, values) for name, values in inputs.items()}
        texts = inputs["text"]
        for name, values in inputs.items():
            if len(values) != len(texts):
                raise UserError(
                    f"{name}: {len(values)} texts for {len(texts)} sentences; each sentence needs "
                    "one"
                )
            for number, value in enumerate(values, start=1):
                check_unicode(value, f"{name} {number}")
        found = [""] * len(texts)
        cut: list[int] = []
        # The graph translates empty texts, too.
        lengths = [len(text.encode()) // _TOKEN + 1 for text in texts]
        options = DecodeHParams()
        for batch in make_batches(lengths, options.batch_size, extra_length=options.extra_length):
            outputs = _run(function, inputs, batch.lines)
            for line, translation in zip(batch.lines, outputs["translation"].numpy(), strict=True):
                found[line] = translation.decode(errors="replace")
            cut += itertools.compress(batch.lines, outputs["cut"].numpy())
        for line in sorted(cut):
            note(f"text {line + 1}: longer than max_input_size of the export, so it was cut")
        return found


def _run(function: Any, inputs: Mapping[str, Sequence[str]], lines: Sequence[int]) -> Any:
    given = {
        name: tf.constant([values[line] for line in lines], tf.string)
        for name, values in inputs.items()
    }
    try:
        return function(**given)
    except tf.errors.InvalidArgumentError as error:
        if len(inputs) == 1:
            raise
        # Alone, a sentence that its features do not fit can be named.
        for line in lines if len(lines) > 1 else ():
            _run(function, inputs, [line])
        reason = failed_assertion(error) or " ".join(str(error).split())[:200]
        raise UserError(f"text {lines[0] + 1}: {reason}") from error


def _load(folder: pathlib.Path) -> Any:
    try:
        return tf.saved_model.load(str(folder))
    except (OSError, ValueError, tf.errors.OpError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UserError(f"{folder} is not a complete SavedModel: {reason}") from error
