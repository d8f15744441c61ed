"""The graph that is served for a model that reads phrases."""

from __future__ import annotations

import tensorflow as tf

from t2t_phrase.export.serving_module import ServingModule

_STRINGS = tf.TensorSpec((None,), tf.string)


class PhraseServingModule(ServingModule):
    """The same three functions, which are also told the phrases of every sentence.

    `phrases` (B,) are the sentences again, with tabs between their phrases, as
    `t2t-phrase-parse --phrases` writes them. Blanks beside the tabs do not matter.
    """

    @tf.function(input_signature=[_STRINGS, _STRINGS])
    def translate(self, text: tf.Tensor, phrases: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return the best `translation` (B,) of each sentence and its `score` (B,)."""
        return self._best(self._source(text, phrases))

    @tf.function(input_signature=[_STRINGS, _STRINGS])
    def nbest(self, text: tf.Tensor, phrases: tf.Tensor) -> dict[str, tf.Tensor]:
        """Return `translations`, `scores` and `counts`, see `ServingModule.nbest`."""
        return self._all(self._source(text, phrases))

    @tf.function(input_signature=[_STRINGS, _STRINGS, _STRINGS])
    def score(
        self, source: tf.Tensor, target: tf.Tensor, phrases: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Return the `log_probability` (B,) of each target given its source, in nats."""
        return self._log_probability(self._source(source, phrases, whole=True), target)
