"""A recurrent encoder-decoder with dot-product attention, for tests; no TensorFlow."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase.features import PHRASES, Feature
from t2t_phrase.layers.attention.layout import AttentionMap, Layout, Units
from t2t_phrase.models.base import Cache, EncoderDecoder, Features, Step
from t2t_phrase.ops.masks import padding_mask


class TinyHParams:
    """Reads the phrases of the source, which it adds to the embeddings."""

    features: tuple[Feature, ...] = (PHRASES,)


class TinyRecurrent(EncoderDecoder):
    """h_t = tanh(E y_{t-1} + W h_{t-1} + c_t): c_t attends to the source, h_0 is its mean."""

    def __init__(self, vocab_size: int, size: int = 8, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.hparams, self.vocab_size, self.size = TinyHParams(), vocab_size, size

    def build(self, input_shape: Any = None) -> None:
        kernel = {"initializer": keras.initializers.RandomNormal(stddev=0.7)}
        self.embedding = self.add_weight(shape=(self.vocab_size, self.size), name="e", **kernel)
        self.kernel = self.add_weight(shape=(self.size, self.size), name="w", **kernel)
        self.softmax = self.add_weight(shape=(self.size, self.vocab_size), name="u", **kernel)
        self.built = True

    def call(self, features: Features, training: bool = False) -> Any:
        memory = self.prepare_memory(features)
        previous = ops.pad(features["targets"][:, :-1], [(0, 0), (1, 0)])
        cache, logits = self.start_cache(memory, 1, 0), []
        for index in range(previous.shape[1]):
            step = self.step(previous[:, index : index + 1], index, memory, cache)
            cache = step.cache
            logits.append(step.logits)
        return ops.concatenate(logits, axis=1)

    def token_log_probabilities(self, features: Features) -> Any:
        logits = self(features)
        chosen = ops.take_along_axis(logits, features["targets"][..., None], axis=2)
        return (chosen - ops.logsumexp(logits, axis=-1, keepdims=True))[..., 0]

    def prepare_memory(self, features: Features, folded: Cache | None = None) -> Any:
        real = padding_mask(features["inputs"])  # (B, S)
        tokens = ops.take(self.embedding, features["inputs"], axis=0)
        if "phrases" in features:
            tokens += 0.1 * ops.cast(features["phrases"], "float32")[..., None]
        return {"tokens": tokens * ops.cast(real, "float32")[..., None], "real": real}

    def start_cache(self, memory: Any, beam_size: int, length: Any) -> Cache:
        count = ops.sum(ops.cast(memory["real"], "float32"), axis=1)[:, None]
        mean = ops.sum(memory["tokens"], axis=1) / ops.maximum(count, 1.0)
        return {"state": ops.repeat(mean[:, None], beam_size, axis=1)}  # (B, K, D)

    def step(self, ids: Any, index: Any, memory: Any, cache: Cache) -> Step:
        state = cache["state"]
        scores = ops.matmul(state, ops.transpose(memory["tokens"], (0, 2, 1)))  # (B, K, S)
        weights = ops.softmax(ops.where(memory["real"][:, None], scores, -1e9), axis=-1)
        context = ops.matmul(weights, memory["tokens"])
        embedded = ops.take(self.embedding, ids, axis=0)
        state = ops.tanh(embedded + ops.matmul(state, self.kernel) + context)
        logits = ops.matmul(state, self.softmax)
        return Step(logits, {"state": state}, {"cross": [weights[:, None]]})

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        return {"state": ops.take_along_axis(cache["state"], parents[..., None], axis=1)}

    def attention_maps(self) -> dict[str, AttentionMap]:
        layout = Layout(num_heads=1, columns=(Units(partition="halves"),))
        return {"cross": AttentionMap("cross-attention", "target", "source", (layout,))}

    def partitions(self, features: Features) -> dict[str, Any]:
        return {"halves": padding_mask(features["inputs"])[:, None]}
