"""The Transformer: encoder, decoder, and the embeddings and softmax around them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import keras
from keras import ops

from t2t_phrase import registry
from t2t_phrase.config import HParamsError
from t2t_phrase.layers.attention.layout import AttentionMap
from t2t_phrase.layers.attention.multi_head_attention import Cache, MultiHeadAttention
from t2t_phrase.layers.attention.relative_attention import RelativeMultiHeadAttention
from t2t_phrase.layers.common.decoder_layer import DecoderLayer
from t2t_phrase.layers.common.encoder_layer import EncoderLayer
from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.layers.common.residual import EPSILON
from t2t_phrase.layers.common.token_embedding import TokenEmbedding
from t2t_phrase.ops.blocks import write_block
from t2t_phrase.ops.cross_entropy import smoothed_cross_entropy
from t2t_phrase.ops.masks import causal_mask, history_mask, memory_mask, padding_mask
from t2t_phrase.ops.position import timing_signal
from t2t_phrase.training_hparams import TrainingHParams

Features = dict[str, Any]
Position = Literal["encoder", "decoder", "cross"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class TransformerHParams(TrainingHParams):
    """Sizes and dropouts of a Transformer; names and defaults are those of `transformer_base`."""

    model: ClassVar[str] = "transformer"  # registered name of the model that reads these fields

    hidden_size: int = 512  # D, width of every residual stream
    filter_size: int = 2048  # inner width of the feed-forward networks
    num_heads: int = 8
    num_hidden_layers: int = 6  # layers of each stack that does not say otherwise
    num_encoder_layers: int = 0  # 0 = num_hidden_layers
    num_decoder_layers: int = 0  # 0 = num_hidden_layers
    norm: Literal["pre", "post"] = "pre"
    pos: Literal["timing", "none"] = "timing"  # absolute positions
    max_relative_position: int = 0  # distance told apart in self-attention; 0 = no distances
    attention_dropout: float = 0.1
    relu_dropout: float = 0.1
    layer_prepostprocess_dropout: float = 0.1
    shared_embedding_and_softmax_weights: bool = True
    share_source_embedding: bool = True  # False: the source has its own, target and softmax another
    target_space_id: int = 0  # row of tensor2tensor's target-space embedding

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        for name in ("hidden_size", "filter_size", "num_heads", "num_hidden_layers"):
            if getattr(self, name) < 1:
                yield f"{name}: must be at least 1, got {getattr(self, name)}"
        for name in ("num_encoder_layers", "num_decoder_layers", "max_relative_position"):
            if getattr(self, name) < 0:
                yield f"{name}: must not be negative, got {getattr(self, name)}"
        for name in ("attention_dropout", "relu_dropout", "layer_prepostprocess_dropout"):
            if not 0 <= getattr(self, name) < 1:
                yield f"{name}: must be in [0, 1), got {getattr(self, name)}"
        if self.num_heads >= 1 and self.hidden_size % self.num_heads:
            yield (
                f"hidden_size={self.hidden_size} is not a multiple of num_heads={self.num_heads}"
            )
        if not self.share_source_embedding and not self.shared_embedding_and_softmax_weights:
            yield (
                "share_source_embedding=False: has no meaning with "
                "shared_embedding_and_softmax_weights=False, by which all embeddings are apart"
            )
        if not 0 <= self.target_space_id < TARGET_SPACES:
            yield f"target_space_id: must be in [0, {TARGET_SPACES}), got {self.target_space_id}"


# tensor2tensor's encoder adds one of 32 vectors that name the kind of text to be produced. The
# table is kept so that its checkpoints load.
TARGET_SPACES = 32


@registry.models.register
class Transformer(keras.Model):
    """Encoder-decoder Transformer as tensor2tensor computes it.

    Vaswani et al. (2017); DESIGN as in `transformer_base`: sublayers read normalised inputs, each
    stack ends in one more normalisation, embeddings are shared with the softmax.

    Shapes: B batch, S source length, T target length, D hidden size, V vocabulary size, K beams,
    L longest output.

    Args:
        hparams: the sizes and dropouts.
        vocab_size: V.

    Call arguments:
        features: {"inputs": (B, S) int, "targets": (B, T) int}, padded with 0.
        training: whether dropout is active.

    Returns:
        (B, T, V) float32 logits; those at position i have seen the targets before i.
    """

    hparams_class: ClassVar[type[TransformerHParams]] = TransformerHParams

    def __init__(self, hparams: TransformerHParams, vocab_size: int, **kwargs: Any) -> None:
        kwargs.setdefault("dtype", hparams.dtype_policy)
        super().__init__(**kwargs)
        self.hparams = hparams
        self.vocab_size = vocab_size
        embedding = {"vocab_size": vocab_size, "hidden_size": hparams.hidden_size}
        embedding["dtype"] = self.dtype_policy
        self.source_embedding = TokenEmbedding(name="embedding", **embedding)
        self.target_embedding = self.softmax = self.source_embedding
        if not (hparams.shared_embedding_and_softmax_weights and hparams.share_source_embedding):
            self.target_embedding = self.softmax = TokenEmbedding(
                name="target_embedding", **embedding
            )
        if not hparams.shared_embedding_and_softmax_weights:
            self.softmax = TokenEmbedding(name="softmax", **embedding)
        self.target_space = keras.layers.Embedding(
            TARGET_SPACES,
            hparams.hidden_size,
            embeddings_initializer=keras.initializers.RandomNormal(
                stddev=hparams.hidden_size**-0.5
            ),
            dtype=self.dtype_policy,
            name="target_space",
        )
        dropout = hparams.layer_prepostprocess_dropout
        self.source_dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)
        self.target_dropout = keras.layers.Dropout(dropout, dtype=self.dtype_policy)
        depth = hparams.num_hidden_layers
        self.encoder_layers = [
            self.make_encoder_layer(index) for index in range(hparams.num_encoder_layers or depth)
        ]
        self.decoder_layers = [
            self.make_decoder_layer(index) for index in range(hparams.num_decoder_layers or depth)
        ]
        if hparams.norm == "pre":
            self.encoder_norm = self._final_norm("encoder_norm")
            self.decoder_norm = self._final_norm("decoder_norm")
        else:
            self.encoder_norm = self.decoder_norm = None

    @classmethod
    def from_hparams(cls, hparams: TransformerHParams, *, vocab_size: int) -> Transformer:
        """Return a model whose variables all exist.

        Raises:
            HParamsError: `hparams` are the options of another model.
        """
        if type(hparams) is not cls.hparams_class:
            raise HParamsError(
                f"model {registry.snake_case(cls.__name__)} cannot read {type(hparams).__name__}; "
                f"use model {hparams.model}, or another hparams set"
            )
        model = cls(hparams, vocab_size, name=registry.snake_case(cls.__name__))
        model.build()
        return model

    def make_attention(self, position: Position, name: str) -> keras.layers.Layer:
        """Return a new attention layer; a model with another kind of attention overrides this."""
        hparams = self.hparams
        shared = {
            "num_heads": hparams.num_heads,
            "hidden_size": hparams.hidden_size,
            "dropout": hparams.attention_dropout,
            "dtype": self.dtype_policy,
            "name": name,
        }
        if hparams.max_relative_position and position != "cross":
            return RelativeMultiHeadAttention(
                max_relative_position=hparams.max_relative_position, **shared
            )
        return MultiHeadAttention(**shared)

    def make_encoder_layer(self, index: int) -> EncoderLayer:
        """Return layer `index` of the encoder."""
        return EncoderLayer(**self.encoder_layer_parts(index))

    def make_decoder_layer(self, index: int) -> DecoderLayer:
        """Return layer `index` of the decoder."""
        return DecoderLayer(**self.decoder_layer_parts(index))

    def encoder_layer_parts(self, index: int) -> dict[str, Any]:
        """Return the arguments of `EncoderLayer`, with new sublayers."""
        return {
            "self_attention": self.make_attention("encoder", "self_attention"),
            "feed_forward": self._feed_forward(),
            "name": f"encoder_layer_{index}",
            **self._around(),
        }

    def decoder_layer_parts(self, index: int) -> dict[str, Any]:
        """Return the arguments of `DecoderLayer`, with new sublayers."""
        return {
            "self_attention": self.make_attention("decoder", "self_attention"),
            "cross_attention": self.make_attention("cross", "cross_attention"),
            "feed_forward": self._feed_forward(),
            "name": f"decoder_layer_{index}",
            **self._around(),
        }

    def _feed_forward(self) -> FeedForward:
        return FeedForward(
            hidden_size=self.hparams.hidden_size,
            filter_size=self.hparams.filter_size,
            dropout=self.hparams.relu_dropout,
            dtype=self.dtype_policy,
            name="feed_forward",
        )

    def _around(self) -> dict[str, Any]:
        return {
            "norm": self.hparams.norm,
            "dropout": self.hparams.layer_prepostprocess_dropout,
            "dtype": self.dtype_policy,
        }

    def _final_norm(self, name: str) -> keras.layers.LayerNormalization:
        return keras.layers.LayerNormalization(epsilon=EPSILON, dtype=self.dtype_policy, name=name)

    def build(self, input_shape: Any = None) -> None:
        """Create every variable."""
        shape = (None, None, self.hparams.hidden_size)
        embeddings: list[TokenEmbedding] = [
            self.source_embedding,
            self.target_embedding,
            self.softmax,
        ]
        for embedding in embeddings:
            if not embedding.built:
                embedding.build()
        self.target_space.build()
        layers: list[keras.layers.Layer] = [*self.encoder_layers, *self.decoder_layers]
        for layer in layers:
            layer.build(shape)
        if self.hparams.norm == "pre":
            self.encoder_norm.build(shape)
            self.decoder_norm.build(shape)
        self.built = True

    def call(self, features: Features, training: bool = False) -> Any:
        """Return the logits of every target token given those before it."""
        memory = self.encode(features, training=training)
        hidden = self.decode(features, memory, training=training)
        return self.logits(hidden)

    def loss_sums(self, features: Features, training: bool = False) -> dict[str, Any]:
        """Return sums over the batch's target tokens, float32 scalars.

        "loss" is the smoothed cross-entropy (0 for a perfect model), the only one with a gradient;
        "nll" the negative log-probability in nats; "correct" counts tokens whose probability is
        highest; "tokens" counts tokens.
        """
        memory = self.encode(features, training=training)
        hidden = self.decode(features, memory, training=training)
        tokens = self.token_losses(hidden, features["targets"])
        real = ops.cast(padding_mask(features["targets"]), "float32")
        return {
            "loss": ops.sum(tokens["smoothed"] * real),
            "nll": ops.sum(tokens["nll"] * real),
            "correct": ops.sum(tokens["correct"] * real),
            "tokens": ops.sum(real),
        }

    def token_losses(self, hidden: Any, targets: Any) -> dict[str, Any]:
        """Compare the decoder's output (B, T, D) with `targets`; values (B, T), see TokenLosses."""
        shape = ops.shape(targets)
        losses = smoothed_cross_entropy(
            ops.reshape(hidden, (-1, self.hparams.hidden_size)),
            ops.cast(ops.convert_to_tensor(self.softmax.kernel), hidden.dtype),
            ops.reshape(targets, (-1,)),
            label_smoothing=self.hparams.label_smoothing,
        )
        return {name: ops.reshape(value, shape) for name, value in losses._asdict().items()}

    def encode(self, features: Features, training: bool = False) -> Any:
        """Return what the decoder reads of the source: the memory (B, S, D)."""
        return self._encode(features, training)[0]

    def decode(self, features: Features, memory: Any, training: bool = False) -> Any:
        """Return the decoder's output (B, T, D), teacher-forced with the targets.

        Args:
            features: see the class.
            memory: from `encode`.
            training: whether dropout is active.
        """
        return self._decode(features, memory, training)[0]

    def attention_maps(self) -> dict[str, AttentionMap]:
        """Return, for each name in `attention_weights`, what its rows and columns are."""
        encoder = tuple(layer.self_attention.layout for layer in self.encoder_layers)
        decoder = tuple(layer.self_attention.layout for layer in self.decoder_layers)
        cross = tuple(layer.cross_attention.layout for layer in self.decoder_layers)
        return {
            "encoder": AttentionMap("encoder self-attention", "source", "source", encoder),
            "decoder": AttentionMap("decoder self-attention", "target", "earlier target", decoder),
            "cross": AttentionMap("cross-attention", "target", "source", cross),
        }

    def partitions(self, features: Features) -> dict[str, Any]:
        """Return the partitions of the source that attention reads: (B, P, S) bool by name."""
        del features
        return {}

    def attention_weights(self, features: Features) -> dict[str, list[Any]]:
        """Return the weights of every attention, teacher-forced, as its layer returns them.

        One array for each layer: "encoder" (B, H, S, S), "decoder" (B, H, T, T) and "cross"
        (B, H, T, S), wider where queries or memory are phrases.
        """
        memory, weights = self._encode(features, training=False)
        return weights | self._decode(features, memory, training=False)[1]

    def _encode(self, features: Features, training: bool) -> tuple[Any, dict[str, list[Any]]]:
        x = self._embed_source(features["inputs"], training)
        mask = memory_mask(features["inputs"])
        weights = []
        for layer in self.encoder_layers:
            x, self_weights = layer(x, attention_mask=mask, training=training)
            weights.append(self_weights)
        return self._finish_encoding(x), {"encoder": weights}

    def _embed_source(self, inputs: Any, training: bool) -> Any:
        space = ops.convert_to_tensor(self.target_space.embeddings)[self.hparams.target_space_id]
        x = self.source_embedding(inputs)
        x = self._add_timing(x + ops.cast(space, x.dtype), ops.arange(ops.shape(inputs)[1]))
        return self.source_dropout(x, training=training)

    def _finish_encoding(self, x: Any) -> Any:
        return x if self.encoder_norm is None else self.encoder_norm(x)

    def _decode(
        self, features: Features, memory: Any, training: bool
    ) -> tuple[Any, dict[str, list[Any]]]:
        x = self._embed_targets(features["targets"], training)
        masks = self._decoder_masks(features)
        weights: dict[str, list[Any]] = {"decoder": [], "cross": []}
        for layer in self.decoder_layers:
            x, self_weights, cross_weights = layer(x, memory, training=training, **masks)
            weights["decoder"].append(self_weights)
            weights["cross"].append(cross_weights)
        return self._finish_decoding(x), weights

    def _embed_targets(self, targets: Any, training: bool) -> Any:
        x = self.target_embedding(targets)
        # The output at i has read the targets before i; the first reads zeros.
        x = ops.pad(x[:, :-1], [(0, 0), (1, 0), (0, 0)])
        x = self._add_timing(x, ops.arange(ops.shape(x)[1]))
        return self.target_dropout(x, training=training)

    def _decoder_masks(self, features: Features) -> dict[str, Any]:
        return {
            "attention_mask": causal_mask(ops.shape(features["targets"])[1]),
            "memory_mask": memory_mask(features["inputs"]),
        }

    def _finish_decoding(self, x: Any) -> Any:
        return x if self.decoder_norm is None else self.decoder_norm(x)

    def logits(self, hidden: Any) -> Any:
        """Return float32 logits (..., V) of the decoder's output (..., D)."""
        return ops.cast(ops.matmul(hidden, self._softmax_map()), "float32")

    def _softmax_map(self) -> Any:
        kernel = ops.cast(ops.convert_to_tensor(self.softmax.kernel), self.compute_dtype)
        return ops.transpose(kernel)  # (D, V)

    def fold_weights(self) -> Cache:
        """Return products of weights for `prepare_memory`: they do not change with the source."""
        return {}

    def prepare_memory(self, features: Features, folded: Cache | None = None) -> Cache:
        """Return all that decoding reads of the source: it does not change from step to step.

        Args:
            features: see the class.
            folded: from `fold_weights`; None = made here.
        """
        return {
            "mask": memory_mask(features["inputs"]),
            "softmax": self._softmax_map(),
            "layers": self._project_memory(
                features, self.fold_weights() if folded is None else folded
            ),
        }

    def _project_memory(self, features: Features, folded: Cache) -> list[Cache]:
        del folded
        memory = self.encode(features)
        return [layer.project_memory(memory) for layer in self.decoder_layers]

    def start_cache(self, batch_size: Any, beam_size: int, length: int) -> Cache:
        """Return the empty history of B * K outputs of at most L tokens."""
        return {
            "ancestors": ops.zeros((batch_size, beam_size, length), "int32"),
            "layers": [
                layer.start_cache(batch_size, beam_size, length) for layer in self.decoder_layers
            ],
        }

    def step(self, ids: Any, index: Any, memory: Cache, cache: Cache) -> tuple[Any, Cache]:
        """Return the logits (B, K, V) of the tokens at time `index`, and the longer history.

        Args:
            ids: (B, K) int, the tokens at time `index - 1`; 0 at the start.
            index: the current time.
            memory: from `prepare_memory`.
            cache: from `start_cache`, `step` or `reorder`.
        """
        own = ops.broadcast_to(ops.arange(ids.shape[1], dtype="int32"), ops.shape(ids))  # (B, K)
        ancestors = write_block(cache["ancestors"], own[..., None], index, axis=2)
        mask = history_mask(ancestors, index)
        x = self._add_timing(self.target_embedding(ids), ops.reshape(index, (1,)))  # (B, K, D)
        layers = []
        for layer, history, projected in zip(
            self.decoder_layers, cache["layers"], memory["layers"], strict=True
        ):
            x, _, history = layer.step(
                x,
                history,
                index,
                projected=projected,
                attention_mask=mask,
                memory_mask=memory["mask"],
            )
            layers.append(history)
        x = self._finish_decoding(x)
        logits = ops.cast(ops.matmul(x, memory["softmax"]), "float32")
        return logits, {"ancestors": ancestors, "layers": layers}

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Follow a change of beams: `parents` (B, K) names the beam each new one continues."""
        return {
            "ancestors": ops.take_along_axis(cache["ancestors"], parents[..., None], axis=1),
            "layers": [
                layer.reorder(history, parents)
                for layer, history in zip(self.decoder_layers, cache["layers"], strict=True)
            ],
        }

    def _add_timing(self, x: Any, positions: Any) -> Any:
        if self.hparams.pos == "none":
            return x
        return x + ops.cast(timing_signal(positions, self.hparams.hidden_size), x.dtype)
