"""The graph that is served: strings in, strings out.

Shapes: B sentences, K beams.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.decoding.beam_search import EOS_ID, WORST
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import log_probabilities
from t2t_phrase.decoding.search import translate_ids
from t2t_phrase.decoding.translator import LENGTH_STEP
from t2t_phrase.text.tf_subwords import TfSubwords
from t2t_phrase.text.whitespace import WHITESPACE

_BLANKS = "[" + "".join(rf"\x{{{code:X}}}" for code in WHITESPACE) + "]+"


class ServingModule(tf.Module):
    """A model, its vocabulary and a way of searching, as three functions of string tensors.

    They give what `Translator` and `Scorer` give; only plain TensorFlow operations and those of
    tensorflow_text are in their graphs.

    Args:
        model: a Transformer on Keras' TensorFlow backend.
        model_bytes: the SentencePiece model, `SubwordEncoder.model_bytes`.
        hparams: the options of decoding; `return_beams` is decided by the function called.

    Raises:
        UserError: `hparams` ask for sampling.
    """

    def __init__(self, model: Any, model_bytes: bytes, hparams: DecodeHParams) -> None:
        super().__init__()
        if hparams.sampling_temp:
            raise UserError(
                f"sampling_temp={hparams.sampling_temp}: a served model answers a request always "
                "in the same way; leave sampling out of --decode_hparams"
            )
        self._model = model
        self._hparams = hparams
        self.subwords = TfSubwords(model_bytes)
        # What is saved are the variables themselves; the Keras layers stay behind.
        self.weights = [variable.value for variable in model.trainable_variables]

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="text")])
    def translate(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the best `translation` (B,) of each sentence and its `score` (B,)."""
        translations, scores = self._search(text, return_beams=False)
        return {"translation": translations[:, 0], "score": scores[:, 0]}

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="text")])
    def nbest(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return all `translations` (B, K), best first, their `scores` (B, K) and `counts` (B,).

        From place `counts` on, where a sentence has fewer hypotheses than K, the texts are empty
        and the scores WORST.
        """
        translations, scores = self._search(text, return_beams=True)
        real = scores > WORST / 2
        counts = tf.maximum(tf.reduce_sum(tf.cast(real, tf.int32), axis=1), 1)
        return {
            "translations": tf.where(real, translations, ""),
            "scores": tf.where(real, scores, WORST),
            "counts": counts,
        }

    @tf.function(
        input_signature=[
            tf.TensorSpec((None,), tf.string, name="source"),
            tf.TensorSpec((None,), tf.string, name="target"),
        ]
    )
    def score(self, source: tf.Tensor, target: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the `log_probability` (B,) of each target given its source, in nats."""
        features = {
            "inputs": self._ids(source, empty_too=True),
            "targets": self._ids(target, empty_too=True),
        }
        return {"log_probability": log_probabilities(self._model, features)}

    def _search(self, text: tf.Tensor, *, return_beams: bool) -> tuple[tf.Tensor, tf.Tensor]:
        ids = self._ids(text, empty_too=False)
        hparams = dataclasses.replace(self._hparams, return_beams=return_beams)
        found = translate_ids(self._model, {"inputs": ids}, hparams)
        beams, length = found.ids.shape[1], tf.shape(found.ids)[2]
        texts = self.subwords.decode(tf.reshape(found.ids, (-1, length)))
        texts = tf.strings.strip(tf.strings.regex_replace(texts, _BLANKS, " "))
        return tf.reshape(texts, (-1, beams)), found.scores

    def _ids(self, text: tf.Tensor, *, empty_too: bool) -> tf.Tensor:
        """Return ids (B, S) with EOS, 0-padded as in `decoding.translator.make_batches`.

        A sentence without words is all padding, or with `empty_too` EOS alone.
        """
        ids = self.subwords.encode(text)
        if self._hparams.max_input_size and not empty_too:
            ids = ids[:, : self._hparams.max_input_size - 1]
        lengths = tf.cast(ids.row_lengths(), tf.int32)
        padded = ids.to_tensor()
        padded = tf.pad(padded, [(0, 0), (0, LENGTH_STEP - tf.shape(padded)[1] % LENGTH_STEP)])
        here = tf.range(tf.shape(padded)[1]) == lengths[:, None]
        if not empty_too:
            here &= lengths[:, None] > 0
        return tf.where(here, EOS_ID, padded)
