"""The layers of a Transformer, made from its hyperparameters."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import keras

from t2t_phrase.config import HParamsError
from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.attention.relative_attention import RelativeMultiHeadAttention
from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.feed_forward import FeedForward
from t2t_phrase.layers.common.layer_norm import LayerNorm
from t2t_phrase.layers.common.token_embedding import TokenEmbedding
from t2t_phrase.layers.common.word_dropout import WordDropout
from t2t_phrase.layers.transformer.decoder_layer import DecoderLayer
from t2t_phrase.layers.transformer.encoder_layer import EncoderLayer
from t2t_phrase.models.base import EncoderDecoder
from t2t_phrase.models.transformer_hparams import TARGET_SPACES, TransformerHParams

Position = Literal["encoder", "decoder", "cross"]


class _TargetSpace(keras.layers.Embedding):
    """The embedding of tensor2tensor's target spaces.

    A class of its own, because Keras' `quantize` leaves those alone: the model reads the weights of
    this layer, which would become integers.
    """


class TransformerLayers(EncoderDecoder):
    """The embeddings, encoder and decoder layers with which `Transformer` computes.

    Args:
        hparams: sizes and dropouts.
        vocab_size: entries of the source vocabulary.
        target_vocab_size: of the target vocabulary; None: source and target share one.

    Raises:
        HParamsError: there are two vocabularies, but one embedding for both.
    """

    hparams_class: ClassVar[type[TransformerHParams]] = TransformerHParams

    def __init__(
        self,
        hparams: TransformerHParams,
        vocab_size: int,
        target_vocab_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("dtype", hparams.dtype_policy)
        super().__init__(**kwargs)
        self.hparams = hparams
        self.vocab_size = vocab_size
        self.target_vocab_size = target_vocab_size
        self._make_embeddings()
        dropout = hparams.layer_prepostprocess_dropout
        self.source_dropout = Dropout(dropout, dtype=self.dtype_policy)
        self.target_dropout = Dropout(dropout, dtype=self.dtype_policy)
        self.source_word_dropout = WordDropout(hparams.source_word_dropout)
        self.target_word_dropout = WordDropout(hparams.target_word_dropout)
        depth = hparams.num_hidden_layers
        self.encoder_layers = [
            self.make_encoder_layer(index) for index in range(hparams.num_encoder_layers or depth)
        ]
        self.decoder_layers = [
            self.make_decoder_layer(index) for index in range(hparams.num_decoder_layers or depth)
        ]
        self.encoder_norm = self._final_norm("encoder_norm")
        self.decoder_norm = self._final_norm("decoder_norm")

    def _make_embeddings(self) -> None:
        hparams, rows = self.hparams, self.target_vocab_size or self.vocab_size
        tied = hparams.shared_embedding_and_softmax_weights
        joint = tied and hparams.share_source_embedding
        if joint and self.target_vocab_size is not None:
            raise HParamsError(
                "source and target have separate vocabularies and cannot share an embedding; "
                "add --hparams=share_source_embedding=false"
            )
        shared = {"hidden_size": hparams.hidden_size, "dtype": self.dtype_policy}
        self.source_embedding = TokenEmbedding(
            vocab_size=self.vocab_size, name="embedding", **shared
        )
        self.target_embedding = self.softmax = self.source_embedding
        if not joint:
            self.target_embedding = self.softmax = TokenEmbedding(
                vocab_size=rows, name="target_embedding", **shared
            )
        if not tied:
            self.softmax = TokenEmbedding(vocab_size=rows, name="softmax", **shared)
        self.target_space = _TargetSpace(
            TARGET_SPACES,
            hparams.hidden_size,
            embeddings_initializer=keras.initializers.RandomNormal(
                stddev=hparams.hidden_size**-0.5
            ),
            dtype=self.dtype_policy,
            name="target_space",
        )

    def make_attention(self, position: Position, name: str) -> keras.layers.Layer:
        """Return a new attention layer; a model with another kind of attention overrides this."""
        hparams = self.hparams
        shared = {
            "num_heads": hparams.num_heads,
            "hidden_size": hparams.hidden_size,
            "dropout": hparams.attention_dropout,
            "initializer_gain": hparams.attention_initializer_gain,
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

    def _final_norm(self, name: str) -> LayerNorm | None:
        if self.hparams.norm == "post":
            return None
        return LayerNorm(dtype=self.dtype_policy, name=name)

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
        layers += [norm for norm in (self.encoder_norm, self.decoder_norm) if norm is not None]
        for layer in layers:
            layer.build(shape)
        self.built = True
