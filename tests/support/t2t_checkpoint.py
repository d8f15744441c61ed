"""Writes checkpoints as tensor2tensor names and shapes its variables, with random values."""

from __future__ import annotations

import dataclasses
import pathlib

import numpy as np
import tensorflow as tf

D, F, V, SHARDS = 8, 12, 11, 4


@dataclasses.dataclass
class T2TCheckpoint:
    """Variables in T2T's names, and the same values in ours."""

    theirs: dict[str, np.ndarray]
    ours: dict[str, np.ndarray]

    def write(self, folder: pathlib.Path, step: int = 700) -> str:
        """Write TF1 checkpoint files as T2T's trainer leaves them; return the checkpoint's path."""
        prefix = f"{folder}/model.ckpt-{step}"
        values = {**self.theirs, "global_step": np.int64(step)}
        tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=list(values),
            shape_and_slices=[""] * len(values),
            tensors=list(values.values()),
        )
        (folder / "checkpoint").write_text(f'model_checkpoint_path: "model.ckpt-{step}"\n')
        return prefix


def make_checkpoint(
    *,
    norm: str = "pre",
    limit: int = 0,
    heads: int = 2,
    layers: int = 2,
    shared: bool = True,
    target_space: bool = True,
    vocab_size: int = V,
    target_vocab_size: int | None = None,
    seed: int = 0,
) -> T2TCheckpoint:
    """Return random variables of a Transformer.

    Args:
        norm: "pre" or "post".
        limit: distance told apart in self-attention; 0 = none.
        heads: of each attention.
        layers: of each stack.
        shared: whether one matrix embeds source and target and is the softmax.
        target_space: whether there is a target-space embedding.
        vocab_size: rows of each embedding.
        target_vocab_size: rows of the target's, if it has a vocabulary of its own.
        seed: of the values.
    """
    draw = np.random.default_rng(seed)
    made = T2TCheckpoint({}, {})

    def add(theirs: str, ours: str, *shape: int, mean: float = 0.0, scale: float = 0.5) -> None:
        value = (mean + scale * draw.normal(size=shape)).astype("float32")
        made.theirs[f"transformer/{theirs}"] = made.ours[ours] = value

    def add_norm(theirs: str, ours: str) -> None:
        add(f"{theirs}/layer_norm/layer_norm_scale", f"{ours}/gamma", D, mean=1.0, scale=0.3)
        add(f"{theirs}/layer_norm/layer_norm_bias", f"{ours}/beta", D, scale=0.3)

    tables = [("shared", "embedding", vocab_size)]
    rows = target_vocab_size or vocab_size
    if shared and target_vocab_size:
        tables.append(("shared", "target_embedding", rows))
    if not shared:
        tables = [
            ("input_emb", "embedding", vocab_size),
            ("target_emb", "target_embedding", rows),
            ("softmax", "softmax", rows),
        ]
    for theirs, ours, size in tables:
        whole = draw.normal(size=(size, D)).astype("float32") * 0.6
        made.ours[f"{ours}/embeddings"] = whole
        for shard, part in enumerate(np.array_split(whole, SHARDS)):
            name = f"transformer/symbol_modality_{size}_{D}/{theirs}/weights_{shard}"
            made.theirs[name] = part
    made.ours["target_space/embeddings"] = np.zeros((32, D), "float32")
    if target_space:
        add("body/target_space_embedding/kernel", "target_space/embeddings", 32, D)

    place = "layer_prepostprocess" if norm == "pre" else "layer_postprocess"
    stacks = {"encoder": ["self_attention", "ffn"]}
    stacks["decoder"] = ["self_attention", "encdec_attention", "ffn"]
    own_names = {"encdec_attention": "cross_attention", "ffn": "feed_forward"}
    maps = {"q": "query", "k": "key", "v": "value", "output_transform": "output"}
    for stack, sublayers in stacks.items():
        for layer in range(layers):
            for sublayer in sublayers:
                own = own_names.get(sublayer, sublayer)
                theirs = f"body/{stack}/layer_{layer}/{sublayer}"
                ours = f"{stack}_layer_{layer}/{own}"
                add_norm(f"{theirs}/{place}", f"{ours}_residual/norm")
                if sublayer == "ffn":
                    for conv, dense, n, m in (("conv1", "inner", D, F), ("conv2", "outer", F, D)):
                        add(f"{theirs}/{conv}/kernel", f"{ours}/{dense}/kernel", n, m)
                        add(f"{theirs}/{conv}/bias", f"{ours}/{dense}/bias", m)
                    continue
                attention = f"{theirs}/multihead_attention"
                for name, dense in maps.items():
                    add(f"{attention}/{name}/kernel", f"{ours}/{dense}/kernel", D, D)
                if limit and sublayer == "self_attention":
                    for kind in ("key", "value"):
                        table = f"dot_product_attention_relative/relative_positions_{kind}s"
                        shape = (2 * limit + 1, D // heads)
                        add(f"{attention}/{table}/embeddings", f"{ours}/relative_{kind}", *shape)
        if norm == "pre":
            add_norm(f"body/{stack}/layer_prepostprocess", f"{stack}_norm")
    return made
