"""One side of a served model: from strings to padded ids and features, inside a graph."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from t2t_phrase.config import UserError
from t2t_phrase.decoding.batches import LENGTH_STEP
from t2t_phrase.features import IDS, Feature, Side
from t2t_phrase.special_ids import EOS_ID
from t2t_phrase.text.annotations.base import Annotation, annotation_of
from t2t_phrase.text.in_graph.encoders import make_tf_encoder
from t2t_phrase.text.in_graph.visible import BLANKS

# Far more than any token has. Texts are first cut by bytes, so that none is too long for the exact
# cut.
BYTES_PER_TOKEN = 64


class GraphSide(tf.Module):
    """Encodes string tensors as `decoding.sides.encode_side` encodes sentences.

    Shapes: B sentences, S tokens, a multiple of LENGTH_STEP.

    Args:
        side: the side.
        model_bytes: the vocabulary of its language.
        features: the features of this side that the model reads.

    Raises:
        UserError: a feature has no form that can be computed in a graph.
    """

    def __init__(self, side: Side, model_bytes: bytes, features: Sequence[Feature]) -> None:
        super().__init__()
        self._side = side
        self.encoder = make_tf_encoder(model_bytes)
        self._features = list(features)
        self._annotations = [annotation_of(feature) for feature in features]
        for feature, annotation in zip(features, self._annotations, strict=True):
            if type(annotation).encode_in_graph is Annotation.encode_in_graph:
                raise UserError(
                    f"feature {feature.name!r} cannot be exported: its annotation "
                    f"{feature.annotation!r} has no encode_in_graph"
                )

    def signature(self, name: str) -> list[tf.TensorSpec]:
        """Return the inputs of this side: the sentences under `name`, then each feature."""
        names = [name, *(feature.name for feature in self._features)]
        return [tf.TensorSpec((None,), tf.string, name=name) for name in names]

    def read(self, text: tf.Tensor, max_tokens: int) -> tf.Tensor:
        """Return the part of each text (B,) that is looked at, see `encode`.

        Blanks at its ends are left out.
        """
        if max_tokens:
            most = max_tokens * BYTES_PER_TOKEN
            if self._features:
                text = tf.where(tf.strings.length(text) > most, "", text)
            else:
                text = tf.strings.substr(text, 0, most)
        return tf.strings.regex_replace(text, f"^{BLANKS}|{BLANKS}$", "")

    def encode(
        self, text: tf.Tensor, *features: tf.Tensor, max_tokens: int = 0, keep_empty: bool = False
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
        """Return (ids and features, each (B, S) int32; (B,) bool, which sentences were cut).

        Args:
            text: (B,) string.
            *features: (B,) string, the text of each feature.
            max_tokens: longer sentences are cut to this number of tokens, EOS included; 0: none is.
                Bytes beyond BYTES_PER_TOKEN times this number are not even looked at; with
                features, which could not be cut, such a sentence counts as one without words.
            keep_empty: whether a sentence without words is EOS alone; otherwise it is padding.
        """
        kept = max_tokens - 1 if max_tokens else None
        cut = tf.fill(tf.shape(text), False)
        if max_tokens:
            cut = tf.strings.length(text) > max_tokens * BYTES_PER_TOKEN
            features = tuple(tf.where(cut, "", strings) for strings in features)
        text = self.read(text, max_tokens)
        if features:
            ids, starts = self.encoder.encode_with_starts(text)
        else:
            ids = self.encoder.encode(text)
        if max_tokens:
            cut |= ids.row_lengths() >= max_tokens
        ends = tf.fill((tf.shape(text)[0],), EOS_ID)
        # A sentence of which nothing but EOS is kept is not empty.
        ended = (ids.row_lengths() > 0) | keep_empty
        encoded = {IDS[self._side]: _with_end(ids[:, :kept], ends, ended, 0)}
        for feature, annotation, strings in zip(
            self._features, self._annotations, features, strict=True
        ):
            numbers = annotation.encode_in_graph(text, starts, strings)[:, :kept]
            encoded[feature.name] = _with_end(
                numbers, annotation.end_in_graph(numbers), ended, feature.pad
            )
        return encoded, cut


def read_lines(text: tf.Tensor, max_tokens: int) -> tf.Tensor:
    """Return the lines of each text that end within its first BYTES_PER_TOKEN * max_tokens bytes.

    Args:
        text: (B,) string.
        max_tokens: see `GraphSide.encode`; 0: all lines are returned.
    """
    if not max_tokens:
        return text
    most = max_tokens * BYTES_PER_TOKEN
    # The line that goes on after these bytes could be taken for another one.
    begun = tf.strings.substr(text, 0, most + 1)
    whole = tf.strings.regex_replace(begun, r"^(\C*\n)?\C*$", r"\1", replace_global=False)
    return tf.where(tf.strings.length(text) > most, whole, text)


def _with_end(rows: tf.RaggedTensor, ends: tf.Tensor, ended: tf.Tensor, pad: int) -> tf.Tensor:
    """Return (B, S): each row and, where it is `ended` (B,), its end (B,), then padding.

    The padding is that of `decoding.batches`.
    """
    lengths = tf.cast(rows.row_lengths(), tf.int32)
    padded = rows.to_tensor(pad)
    extra = LENGTH_STEP - tf.shape(padded)[1] % LENGTH_STEP
    padded = tf.pad(padded, [(0, 0), (0, extra)], constant_values=pad)
    here = (tf.range(tf.shape(padded)[1]) == lengths[:, None]) & ended[:, None]
    return tf.where(here, ends[:, None], padded)
