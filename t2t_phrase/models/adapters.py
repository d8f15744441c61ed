"""Low-rank adapters (LoRA; Hu et al., 2021), as implemented in Keras."""

from __future__ import annotations

import keras


def add_lora(model: keras.Model, rank: int) -> int:
    """Freeze a model and add a trainable product of low rank to each dense kernel.

        W' = W + A B

    with A (inputs, rank) and B (rank, outputs), which is initially zero.

    The kernels of `keras.layers.Dense` are adapted: the maps of attention and of feed-forward
    networks. Convolutions over n-grams, embeddings and LSTMs stay as they are.

    Args:
        model: a model whose variables all exist.
        rank: rank of the products.

    Returns:
        The number of kernels with an adapter.

    Raises:
        ValueError: the model has no dense kernel.
    """
    for variable in model.trainable_variables:
        variable.trainable = False
    dense = [layer for layer in model._flatten_layers() if isinstance(layer, keras.layers.Dense)]
    for layer in dense:
        layer.enable_lora(rank)
    if not dense:
        raise ValueError("lora_rank: the model has no dense kernels")
    return len(dense)
