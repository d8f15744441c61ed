"""The Keras backend that exports need."""

from __future__ import annotations

import keras

from t2t_phrase.config import UserError


def check_tensorflow() -> None:
    """Check that models compute with TensorFlow.

    Raises:
        UserError: Keras uses another backend.
    """
    if keras.backend.backend() != "tensorflow":
        raise UserError(
            f"KERAS_BACKEND={keras.backend.backend()}: only models on TensorFlow can be exported; "
            "unset it or set KERAS_BACKEND=tensorflow"
        )
