"""The graph that is served: strings in, strings out.

Shapes: B sentences, K beams.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.decoding.scoring import log_probabilities
from t2t_phrase.decoding.search.beam_search import WORST
from t2t_phrase.decoding.search.plain_expansion import EOS_ID
from t2t_phrase.decoding.search.translate_ids import Features, translate_ids
from t2t_phrase.decoding.translator import LENGTH_STEP
from t2t_phrase.text.subwords.tf_subwords import BLANKS, TfSubwords


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
        self.folded = tf.nest.map_structure(
            lambda product: tf.Variable(product, trainable=False), model.fold_weights()
        )

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="text")])
    def translate(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the best `translation` (B,) of each sentence and its `score` (B,)."""
        return self._best(self._source(text))

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.string, name="text")])
    def nbest(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return all `translations` (B, K), best first, their `scores` (B, K) and `counts` (B,).

        From place `counts` on, where a sentence has fewer hypotheses than K, the texts are empty
        and the scores WORST.
        """
        return self._all(self._source(text))

    @tf.function(
        input_signature=[
            tf.TensorSpec((None,), tf.string, name="source"),
            tf.TensorSpec((None,), tf.string, name="target"),
        ]
    )
    def score(self, source: tf.Tensor, target: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the `log_probability` (B,) of each target given its source, in nats."""
        return self._log_probability(self._source(source, whole=True), target)

    def _best(self, features: Features) -> dict[str, tf.Tensor]:
        translations, scores = self._search(features, return_beams=False)
        return {"translation": translations[:, 0], "score": scores[:, 0]}

    def _all(self, features: Features) -> dict[str, tf.Tensor]:
        translations, scores = self._search(features, return_beams=True)
        real = scores > WORST / 2
        counts = tf.maximum(tf.reduce_sum(tf.cast(real, tf.int32), axis=1), 1)
        return {
            "translations": tf.where(real, translations, ""),
            "scores": tf.where(real, scores, WORST),
            "counts": counts,
        }

    def _log_probability(self, features: Features, target: tf.Tensor) -> dict[str, tf.Tensor]:
        targets = self._source(target, whole=True)["inputs"]
        return {"log_probability": log_probabilities(self._model, {**features, "targets": targets})}

    def _search(self, features: Features, *, return_beams: bool) -> tuple[tf.Tensor, tf.Tensor]:
        hparams = dataclasses.replace(self._hparams, return_beams=return_beams)
        folded = tf.nest.map_structure(tf.convert_to_tensor, self.folded)
        found = translate_ids(self._model, features, hparams, folded=folded)
        beams, length = found.ids.shape[1], tf.shape(found.ids)[2]
        texts = self.subwords.decode(tf.reshape(found.ids, (-1, length)))
        texts = tf.strings.strip(tf.strings.regex_replace(texts, BLANKS, " "))
        return tf.reshape(texts, (-1, beams)), found.scores

    def _source(
        self, text: tf.Tensor, phrases: tf.Tensor | None = None, *, whole: bool = False
    ) -> dict[str, tf.Tensor]:
        """Return "inputs" (B, S) as the decoder makes them, and with phrases also "phrases".

        With `whole`, as for scoring, nothing is cut, and a sentence without words is EOS alone;
        else it is all padding.
        """
        if phrases is None:
            sides = [self.subwords.encode(text)]
        else:
            sides = list(self.subwords.encode_with_phrases(text, phrases))
        if self._hparams.max_input_size and not whole:
            sides = [side[:, : self._hparams.max_input_size - 1] for side in sides]
        ends = [tf.constant([[EOS_ID]])]
        if phrases is not None:
            # EOS is one phrase more.
            last = sides[1].to_tensor()
            ends.append(tf.reduce_max(tf.pad(last, [(0, 0), (0, 1)]), axis=1, keepdims=True) + 1)
        padded = [_with_end(*pair, empty_too=whole) for pair in zip(sides, ends, strict=True)]
        return dict(zip(("inputs", "phrases"), padded, strict=False))


def _with_end(rows: tf.RaggedTensor, end: tf.Tensor, *, empty_too: bool) -> tf.Tensor:
    """Return (B, S): each row and `end` (B or 1, 1), 0-padded as by `translator.make_batches`."""
    lengths = tf.cast(rows.row_lengths(), tf.int32)
    padded = rows.to_tensor()
    padded = tf.pad(padded, [(0, 0), (0, LENGTH_STEP - tf.shape(padded)[1] % LENGTH_STEP)])
    here = tf.range(tf.shape(padded)[1]) == lengths[:, None]
    if not empty_too:
        here &= lengths[:, None] > 0
    return tf.where(here, end, padded)
