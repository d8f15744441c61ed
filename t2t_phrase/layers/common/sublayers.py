"""Layers inside layers: building and deserializing them."""

from __future__ import annotations

from typing import Any

import keras


def build_once(layer: keras.layers.Layer, *shapes: Any) -> None:
    """Create the weights of a sublayer, unless loading it from a file has created them."""
    if not layer.built:
        layer.build(*shapes)


def deserialize_sublayers(config: dict[str, Any]) -> dict[str, Any]:
    """Return `config` with every serialised layer in it deserialised."""
    return {
        name: keras.saving.deserialize_keras_object(value)
        if isinstance(value, dict) and "class_name" in value
        else value
        for name, value in config.items()
    }
