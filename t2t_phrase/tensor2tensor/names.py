"""Names of our variables in tensor2tensor checkpoints."""

from __future__ import annotations

import re

SUBLAYERS = {
    "encoder_layer": {"self_attention": "self_attention", "feed_forward": "ffn"},
    "decoder_layer": {
        "self_attention": "self_attention",
        "cross_attention": "encdec_attention",
        "feed_forward": "ffn",
    },
}
MAPS = {
    "query/kernel": "multihead_attention/q/kernel",
    "key/kernel": "multihead_attention/k/kernel",
    "value/kernel": "multihead_attention/v/kernel",
    "output/kernel": "multihead_attention/output_transform/kernel",
    "inner/kernel": "conv1/kernel",
    "inner/bias": "conv1/bias",
    "outer/kernel": "conv2/kernel",
    "outer/bias": "conv2/bias",
    "relative_key": "multihead_attention/dot_product_attention_relative/"
    "relative_positions_keys/embeddings",
    "relative_value": "multihead_attention/dot_product_attention_relative/"
    "relative_positions_values/embeddings",
}
NORMS = {"gamma": "layer_norm_scale", "beta": "layer_norm_bias"}
EMBEDDINGS = {
    "embedding/embeddings": "(shared|input_emb)",
    "target_embedding/embeddings": "(shared|target_emb)",
    "softmax/embeddings": "softmax",
}


def t2t_pattern(name: str, *, norm: str, vocab_size: int) -> str:
    """Return a regular expression for the T2T variables that make up our variable `name`.

    The expression matches names without the model's prefix ("transformer/"). A sharded embedding
    matches several variables, which are concatenated along rows in the order of their numbers.

    Args:
        name: the path of one of our variables, without the model's name.
        norm: "pre" or "post"; T2T's post-norm models name their normalisations differently.
        vocab_size: vocabulary size of the embedding's side; T2T's names contain it.

    Raises:
        KeyError: T2T has no such variable.
    """
    if name in EMBEDDINGS:
        return rf"symbol_modality_{vocab_size}_\d+/{EMBEDDINGS[name]}/weights_\d+"
    if name == "target_space/embeddings":
        return "body/target_space_embedding/kernel"
    final = re.fullmatch(r"(encoder|decoder)_norm/(gamma|beta)", name)
    if final:
        return f"body/{final[1]}/layer_prepostprocess/layer_norm/{NORMS[final[2]]}"
    stack, index, sublayer, rest = re.fullmatch(r"(\w+_layer)_(\d+)/(\w+?)/(.+)", name).groups()  # type: ignore[union-attr]
    is_norm = sublayer.endswith("_residual")
    t2t_sublayer = SUBLAYERS[stack][sublayer.removesuffix("_residual")]
    prefix = f"body/{stack.removesuffix('_layer')}/layer_{index}/{t2t_sublayer}/"
    if is_norm:
        place = "layer_prepostprocess" if norm == "pre" else "layer_postprocess"
        return f"{prefix}{place}/layer_norm/{NORMS[rest.removeprefix('norm/')]}"
    return prefix + MAPS[rest]
