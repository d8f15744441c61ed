"""Low-rank adapters (LoRA; Hu et al., 2021), as implemented in Keras."""

from __future__ import annotations

import keras

from t2t_phrase.layers.alignment.biased_attention import BiasedAttention
from t2t_phrase.layers.segments.transparent_attention import TransparentAttention


def add_lora(model: keras.Model, rank: int) -> int:
    """Freeze a model and add a trainable product of low rank to each dense kernel.

        W' = W + A B

    with A (inputs, rank) and B (rank, outputs), which is initially zero.

    The kernels of `keras.layers.Dense` are adapted: the maps of attention and of feed-forward
    networks. Convolutions over n-grams, embeddings, LSTMs and the maps of heads of segments stay as
    they are. The vector of aligned positions and the weights of transparent attention are trained,
    too: frozen at their initial values, they would switch off what they are for.

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
    layers = list(model._flatten_layers())
    for layer in layers:
        if isinstance(layer, BiasedAttention):
            layer.bias.trainable = True
        elif isinstance(layer, TransparentAttention):
            layer.logits.trainable = True
    dense = [layer for layer in layers if isinstance(layer, keras.layers.Dense)]
    for layer in dense:
        layer.enable_lora(rank)
    if not dense:
        raise ValueError("lora_rank: the model has no dense kernels")
    return len(dense)
