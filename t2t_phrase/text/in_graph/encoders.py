"""`text.encoders.make_encoder` for TensorFlow graphs."""

from __future__ import annotations

from t2t_phrase.text.encoders import is_word_list
from t2t_phrase.text.in_graph.subwords import TfSubwords
from t2t_phrase.text.in_graph.words import TfWords


def make_tf_encoder(model_bytes: bytes) -> TfSubwords | TfWords:
    """Return an encoder of string tensors for a vocabulary.

    Args:
        model_bytes: `model_bytes` of a `SubwordEncoder` or `WordEncoder`.
    """
    return (TfWords if is_word_list(model_bytes) else TfSubwords)(model_bytes)
