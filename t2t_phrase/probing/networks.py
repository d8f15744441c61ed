"""The networks that are trained for a task: a classifier alone, or with an encoder below it.

Shapes: B batch, W words, D hidden size, C classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import keras
from keras import ops

from t2t_phrase.features import IDS
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.probing.vectors import sentence_vectors, word_vectors


class Network(Protocol):
    """The interface of networks that `training.fit` trains."""

    @property
    def trainable_variables(self) -> list[keras.Variable]:
        """The weights, once `logits` has been called; some may have no gradient."""

    def logits(self, features: Mapping[str, Any], training: bool) -> Any:
        """Return (..., C) float32."""


class Classifier:
    """A network of one hidden layer over vectors.

    Args:
        classes: number of classes, C.
        hidden_units: size of the hidden layer.
        dropout: rate of dropout before and after the hidden layer.
    """

    def __init__(self, classes: int, *, hidden_units: int, dropout: float) -> None:
        self._layers = keras.Sequential(
            [
                keras.layers.Dropout(dropout),
                keras.layers.Dense(hidden_units, activation="relu"),
                keras.layers.Dropout(dropout),
                keras.layers.Dense(classes),
            ],
            name="classifier",
        )

    @property
    def trainable_variables(self) -> list[keras.Variable]:
        """The weights."""
        return list(self._layers.trainable_variables)

    def logits(self, features: Mapping[str, Any], training: bool) -> Any:
        """Return (n, C) float32 for the "vectors" (n, D)."""
        return self.of_vectors(features["vectors"], training)

    def of_vectors(self, vectors: Any, training: bool) -> Any:
        """Return the logits of vectors of any rank."""
        shape = ops.shape(vectors)
        logits = self._layers(ops.reshape(vectors, (-1, vectors.shape[-1])), training=training)
        return ops.reshape(logits, (*shape[:-1], logits.shape[-1]))


class EncoderClassifier:
    """The encoder of a model and a classifier over its states, trained together.

    Args:
        model: the model; its decoder is not used.
        of_words: whether words, rather than sentences, are classified.
        classifier: classifier of the states.
    """

    def __init__(self, model: EncoderDecoder, of_words: bool, classifier: Classifier) -> None:
        self._model, self._of_words = model, of_words
        self._classifier = classifier

    @property
    def trainable_variables(self) -> list[keras.Variable]:
        """The weights of model and classifier."""
        return [*self._model.trainable_variables, *self._classifier.trainable_variables]

    def logits(self, features: Mapping[str, Any], training: bool) -> Any:
        """Return (B, W, C) or (B, C) float32."""
        read = {name: features[name] for name in features if name not in ("words", "ends")}
        states = self._model.source_states(read, training=training)
        if self._of_words:
            vectors = word_vectors(states, features["words"], features.get("ends"))
            return self._classifier.of_vectors(vectors, training)
        return self._classifier.of_vectors(sentence_vectors(states, read[IDS["source"]]), training)
