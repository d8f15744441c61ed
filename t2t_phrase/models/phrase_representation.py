"""The Transformer with source phrase representations (Xu et al., 2020)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import keras
from keras import ops

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.features import PAIRS, PHRASES, Feature
from t2t_phrase.layers.attention.layout import AttentionMap, Layout, Units
from t2t_phrase.layers.attention.multi_head_attention import MultiHeadAttention
from t2t_phrase.layers.common.given import given
from t2t_phrase.layers.segments.attentive_combination import AttentiveCombination
from t2t_phrase.layers.segments.attentive_pooling import AttentivePooling
from t2t_phrase.layers.segments.max_pooling import MaxPooling
from t2t_phrase.layers.segments.mean_pooling import MeanPooling
from t2t_phrase.layers.segments.segment_decoder_layer import SegmentDecoderLayer
from t2t_phrase.layers.segments.segment_encoder_layer import SegmentEncoderLayer
from t2t_phrase.layers.segments.transparent_attention import TransparentAttention
from t2t_phrase.models.base import Cache, Encoded, Features
from t2t_phrase.models.exhibit import Exhibit
from t2t_phrase.models.mixture_exhibit import mixture_exhibit
from t2t_phrase.models.packed_rows import (
    is_packed,
    packed_positions,
    segments_mask,
    source_mask,
)
from t2t_phrase.models.phrase_transformer import PhraseHParams, PhraseTransformer
from t2t_phrase.models.transformer import Decoded
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.ops.masks import padding_mask
from t2t_phrase.ops.partition import (
    LONGEST,
    SHORTEST,
    fixed_partition,
    fixed_slots,
    joined_partition,
    length_partition,
    length_slots,
    segment_membership,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PhraseRepresentationHParams(PhraseHParams):
    """The partition of the source, the pooling of segments, and the widths of both networks.

    The attentions, which are other sublayers, may be any of `PhraseHParams`, by default plain.
    """

    model: ClassVar[str] = "phrase_representation_transformer"
    cannot_pack: ClassVar[str] = ""

    encoder_attention: str = "none"
    decoder_attention: str = "none"
    cross_attention: str = "none"
    phrases: Literal["length", "fixed", "parsed"] = "length"  # parsed: stored with the data
    phrase_length: int = 0  # phrases=fixed only: tokens in a phrase
    phrase_glance: Literal["max", "mean"] = "max"  # Eq. 2
    attentive_pooling: bool = True  # Eq. 3 to 5; False: the glance is the phrase
    phrase_pooling_size: int = 0  # attentive_pooling only: rows of W_1; 0 = hidden_size
    phrase_combination_size: int = 0  # rows of W_3; 0 = 3 hidden_size
    transparent_attention: bool = True  # Eq. 6; False: all decoder layers read the last phrases

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that the model reads: with phrases=parsed, the phrases."""
        return (PHRASES,) if self.phrases == "parsed" else ()

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        for name in ("phrase_length", "phrase_pooling_size", "phrase_combination_size"):
            if getattr(self, name) < 0:
                yield f"{name}: must not be negative, got {getattr(self, name)}"
        yield from self.at_most(phrase_pooling_size=2**20, phrase_combination_size=2**20)
        if self.phrases == "fixed" and not self.phrase_length:
            yield "phrase_length: phrases=fixed needs the number of tokens in a phrase, got 0"
        if self.phrases != "fixed" and self.phrase_length:
            yield (
                f"phrase_length={self.phrase_length}: is only used with phrases=fixed, got "
                f"phrases={self.phrases}"
            )
        if self.phrase_length > self.max_length:
            yield (
                f"phrase_length={self.phrase_length}: no sentence of max_length={self.max_length} "
                "tokens has a second phrase"
            )
        if self.phrase_pooling_size and not self.attentive_pooling:
            yield (
                f"phrase_pooling_size={self.phrase_pooling_size}: is not used with "
                "attentive_pooling=false"
            )


def with_phrase_representation(
    base: TransformerHParams, **changes: Any
) -> PhraseRepresentationHParams:
    """Return `base` with phrase representations.

    Args:
        base: the sizes and the recipe.
        **changes: other fields of `PhraseRepresentationHParams`.
    """
    return PhraseRepresentationHParams(**{**vars(base), **changes})


@registry.models.register
class PhraseRepresentationTransformer(PhraseTransformer):
    """The Transformer whose tokens look up phrases of the source, in encoder and decoder.

    Xu et al. (2020). Each encoder layer pools its input into phrases, to which its tokens attend; a
    final pooling makes phrases of the encoder's output. Decoder layers attend to these last phrases
    or, with transparent attention, each to its own mixture of all phrases.

    Differs from the paper: with norm="pre" sublayers read normalised inputs, and so do the
    poolings; the paper normalises after the sum.

    Shapes: P slots for phrases, the others as in `Transformer`.

    Args:
        hparams: sizes, dropouts, attentions and phrases.
        vocab_size: V.

    Call arguments:
        features: as for `Transformer`; with phrases="parsed" also "phrases", (B, S) int: the number
            of the phrase that each source token is in, ascending from 1; 0 at padding.
        training: whether dropout is active.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.phrase_representation import PhraseRepresentationTransformer

        registry.discover()
        hparams = registry.hparams["phrase_representation_max_attn_ta_demo"]()
        hparams = hparams.replace(phrases="parsed")
        model = PhraseRepresentationTransformer.from_hparams(hparams, vocab_size=4000)
        features = {
            "inputs": np.array([[5, 6, 7, 8, 1]]),
            "phrases": np.array([[1, 1, 2, 2, 3]]),
            "targets": np.array([[8, 9, 1]]),
        }
        logits = model(features)  # (1, 3, 4000)
        ```
    """

    hparams_class = PhraseRepresentationHParams
    hparams: PhraseRepresentationHParams

    def __init__(
        self,
        hparams: PhraseRepresentationHParams,
        vocab_size: int,
        target_vocab_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(hparams, vocab_size, target_vocab_size, **kwargs)
        self.memory_pooling = self.make_pooling("memory_pooling")
        self.transparent_attention = None
        if hparams.transparent_attention:
            self.transparent_attention = TransparentAttention(
                readers=len(self.decoder_layers),
                memories=len(self.encoder_layers) + 1,
                dtype=self.dtype_policy,
                name="transparent_attention",
            )

    def make_pooling(self, name: str) -> keras.layers.Layer:
        """Return a new layer that pools tokens into phrases."""
        hparams = self.hparams
        outer = name if not hparams.attentive_pooling else "glance"
        glance: keras.layers.Layer
        if hparams.phrase_glance == "mean":
            glance = MeanPooling(dtype=self.dtype_policy, name=outer)
        else:
            longest = {"length": LONGEST, "fixed": hparams.phrase_length, "parsed": None}
            glance = MaxPooling(
                longest=longest[hparams.phrases], dtype=self.dtype_policy, name=outer
            )
        if not hparams.attentive_pooling:
            return glance
        return AttentivePooling(
            glance=glance,
            hidden_size=hparams.hidden_size,
            units=hparams.phrase_pooling_size or hparams.hidden_size,
            dtype=self.dtype_policy,
            name=name,
        )

    def make_combination(self) -> AttentiveCombination:
        """Return a new layer with which tokens look up phrases."""
        hparams = self.hparams
        return AttentiveCombination(
            attention=MultiHeadAttention(
                num_heads=hparams.num_heads,
                hidden_size=hparams.hidden_size,
                dropout=hparams.attention_dropout,
                initializer_gain=hparams.attention_initializer_gain,
                dtype=self.dtype_policy,
                name="attention",
            ),
            hidden_size=hparams.hidden_size,
            units=hparams.phrase_combination_size or 3 * hparams.hidden_size,
            # There may be as many phrases as tokens if they are parsed or the rows are packed.
            by_segment=not hparams.packed_length
            and (hparams.phrases == "length" or hparams.phrase_length >= SHORTEST),
            dropout=hparams.relu_dropout,
            dtype=self.dtype_policy,
            name="phrase_combination",
        )

    def make_encoder_layer(self, index: int) -> SegmentEncoderLayer:
        """Return layer `index` of the encoder."""
        return SegmentEncoderLayer(
            pooling=self.make_pooling("phrase_pooling"),
            combination=self.make_combination(),
            **self.encoder_layer_parts(index),
        )

    def make_decoder_layer(self, index: int) -> SegmentDecoderLayer:
        """Return layer `index` of the decoder."""
        return SegmentDecoderLayer(
            combination=self.make_combination(), **self.decoder_layer_parts(index)
        )

    def build(self, input_shape: Any = None) -> None:
        """Create every variable."""
        super().build(input_shape)
        self.memory_pooling.build((None, None, self.hparams.hidden_size))
        if self.transparent_attention is not None:
            self.transparent_attention.build()

    def membership(self, features: Features) -> Any:
        """Return which source tokens each phrase holds, (B, P, S) bool.

        Raises:
            UserError: the model reads parsed phrases, but the features contain none.
        """
        inputs, pairs = features["inputs"], features.get(PAIRS["source"])
        length = ops.shape(inputs)[1]
        if self.hparams.phrases == "parsed":
            if "phrases" not in features:
                raise UserError(
                    "phrases=parsed: these sentences have no phrases; parse them, or use an "
                    "hparams set with phrases=length"
                )
            numbers, slots = features["phrases"], length
            if pairs is not None:
                numbers = joined_partition(numbers, pairs)
        elif self.hparams.phrases == "fixed":
            tokens = self.hparams.phrase_length
            numbers = fixed_partition(padding_mask(inputs), tokens, pairs)
            slots = fixed_slots(length, tokens)
        else:
            numbers = length_partition(padding_mask(inputs), pairs)
            slots = length_slots(length)
        return segment_membership(numbers, slots if pairs is None else length)

    def attention_maps(self) -> dict[str, AttentionMap]:
        """Return the meaning of the rows and columns for each name in `attention_weights`."""
        phrases = Units(partition="phrases")
        encoder, decoder = (
            tuple(
                dataclasses.replace(layer.combination.attention.layout, columns=(phrases,))
                for layer in layers
            )
            for layers in (self.encoder_layers, self.decoder_layers)
        )
        pooling = (Layout(num_heads=0, rows=(phrases,)),) * (len(self.encoder_layers) + 1)
        return {
            **super().attention_maps(),
            "encoder_phrases": AttentionMap(
                "encoder attention to phrases", "source", "source", encoder
            ),
            "decoder_phrases": AttentionMap(
                "decoder attention to phrases", "target", "source", decoder
            ),
            "pooling": AttentionMap("pooling of tokens", "source", "source", pooling),
        }

    def partitions(self, features: Features) -> dict[str, Any]:
        """Return the partition of the source into "phrases", (B, P, S) bool."""
        return {"phrases": self.membership(features)}

    def exhibits(self, features: Features) -> dict[str, Exhibit]:
        """Return the mixture of transparent attention, if there is any."""
        if self.transparent_attention is None:
            return {}
        exhibit = mixture_exhibit(self.transparent_attention, ops.shape(features["inputs"])[0])
        return {"transparent_attention": exhibit}

    def attention_weights(self, features: Features) -> dict[str, list[Any]]:
        """Return the weights of every attention, teacher-forced, as its layer returns them.

        In addition to the weights of `Transformer`, there are those of the attentions to phrases,
        "encoder_phrases" (B, H, S, P) and "decoder_phrases" (B, H, T, P), and of the poolings,
        "pooling" (B, P, S): one for each encoder layer's input, one for the encoder's output.
        """
        return super().attention_weights(features)

    def fold_weights(self) -> Cache:
        """Return also `AttentiveCombination.fold` of each layer of "encoder" and "decoder"."""
        layers: dict[str, list[Any]] = {
            "encoder": self.encoder_layers,
            "decoder": self.decoder_layers,
        }
        folds = {name: [layer.combination.fold() for layer in of] for name, of in layers.items()}
        return {**super().fold_weights(), **folds}

    def encode(
        self, features: Features, training: bool = False, folded: Cache | None = None
    ) -> Encoded:
        """Return the encoded source.

        Its memory is the encoder's output, "tokens" (B, S, D), and the phrases that each decoder
        layer reads, "phrases", a list of (B, P, D); its masks are "tokens" (B, 1, 1, S) and
        "phrases" (B, 1, 1, P). Arguments as for `Transformer`.
        """
        x = self._embed_source(features, training)
        membership = self.membership(features)
        masks = {
            "attention_mask": source_mask(features),
            "segment_mask": segments_mask(features, membership, "source"),
            **given(positions=packed_positions(features, "source")),
        }
        memories = []
        weights: dict[str, list[Any]] = {"encoder": [], "encoder_phrases": [], "pooling": []}
        for index, layer in enumerate(self.encoder_layers):
            x, self_weights, phrases, phrase_weights, pooling_weights = layer(
                x,
                membership,
                folded=None if folded is None else folded["encoder"][index],
                training=training,
                **masks,
            )
            memories.append(phrases)
            weights["encoder"].append(self_weights)
            weights["encoder_phrases"].append(phrase_weights)
            weights["pooling"].append(pooling_weights)
        x = self._finish_encoding(x)
        phrases, pooling_weights = self.memory_pooling(x, membership)
        memories.append(phrases)
        weights["pooling"].append(pooling_weights)
        return Encoded(
            memory={"tokens": x, "phrases": self._phrases_by_reader(memories)},
            masks={"tokens": masks["attention_mask"], "phrases": masks["segment_mask"]},
            weights=weights,
        )

    def _phrases_by_reader(self, memories: list[Any]) -> list[Any]:
        """Return the phrases or the mixture of phrases that each decoder layer reads."""
        if self.transparent_attention is None:
            return [memories[-1]] * len(self.decoder_layers)
        mixed = self.transparent_attention(ops.stack(memories, axis=1))  # (B, N, P, D)
        return [mixed[:, index] for index in range(len(self.decoder_layers))]

    def decode(self, features: Features, encoded: Encoded, training: bool = False) -> Decoded:
        """Return the decoder's output (B, T, D), teacher-forced; see `Transformer`."""
        x = self._embed_targets(features, training)
        arguments = self._decoder_arguments(features, encoded)
        phrase_mask = encoded.masks["phrases"]
        if is_packed(features):
            phrase_mask = segments_mask(features, self.membership(features), "target")
        weights: dict[str, list[Any]] = {"decoder": [], "cross": [], "decoder_phrases": []}
        for layer, phrases in zip(self.decoder_layers, encoded.memory["phrases"], strict=True):
            x, self_weights, cross_weights, phrase_weights = layer(
                x,
                encoded.memory["tokens"],
                phrases,
                segment_mask=phrase_mask,
                training=training,
                **arguments,
            )
            weights["decoder"].append(self_weights)
            weights["cross"].append(cross_weights)
            weights["decoder_phrases"].append(phrase_weights)
        return Decoded(self._finish_decoding(x), weights)

    def _project_memory(self, encoded: Encoded, folded: Cache) -> list[Cache]:
        layers: list[Any] = self.decoder_layers
        return [
            layer.project_memory(encoded.memory["tokens"], phrases, encoded.masks["phrases"], maps)
            for layer, phrases, maps in zip(
                layers, encoded.memory["phrases"], folded["decoder"], strict=True
            )
        ]
