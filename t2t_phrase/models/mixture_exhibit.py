"""The exhibit of transparent attention: its mixture."""

from __future__ import annotations

from typing import Any

from keras import ops

from t2t_phrase.layers.segments.transparent_attention import TransparentAttention
from t2t_phrase.models.exhibit import Exhibit


def mixture_exhibit(transparent: TransparentAttention, batch_size: Any) -> Exhibit:
    """Return the shares that each decoder layer reads of the phrases of all encoder layers.

    They are the same for all sentences. The rows are decoder layers; the last column is for the
    phrases of the encoder's output, the others for the phrases of its layers' inputs.

    Args:
        transparent: the layer of the model.
        batch_size: B.
    """
    names = [f"input of encoder layer {layer + 1}" for layer in range(transparent.memories - 1)]
    shape = (batch_size, transparent.readers, transparent.memories)
    return Exhibit(
        "mixture of transparent attention",
        tuple(f"decoder layer {layer + 1}" for layer in range(transparent.readers)),
        (*names, "output of the encoder"),
        ops.broadcast_to(transparent.weights_of_memories(), shape),
    )
