"""The Transformer with multi-granularity self-attention (Hao et al., 2019)."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.features import PAIRS, TAG_CLASSES
from t2t_phrase.layers.common.given import given
from t2t_phrase.layers.granularities.attention_composition import AttentionComposition
from t2t_phrase.layers.granularities.head_lstm import HeadLSTM
from t2t_phrase.layers.granularities.head_on_lstm import HeadONLSTM
from t2t_phrase.layers.granularities.lstm_composition import LSTMComposition
from t2t_phrase.layers.granularities.max_composition import MaxComposition
from t2t_phrase.layers.granularities.multi_granularity_attention import MultiGranularityAttention
from t2t_phrase.layers.granularities.multi_granularity_encoder_layer import (
    MultiGranularityEncoderLayer,
)
from t2t_phrase.layers.granularities.tag_classifier import TagClassifier
from t2t_phrase.layers.transformer.encoder_layer import EncoderLayer
from t2t_phrase.models.base import Cache, Encoded, Features, Mean
from t2t_phrase.models.multi_granularity_hparams import (
    TOKENS,
    MultiGranularityHParams,
    heads_of,
    is_level,
    parse_granularity,
)
from t2t_phrase.models.packed_rows import packed_positions, source_mask
from t2t_phrase.models.phrase_transformer import PhraseTransformer
from t2t_phrase.models.tag_losses import add_means, classes_of_segments, tag_means
from t2t_phrase.ops.masks import padding_mask
from t2t_phrase.ops.partition import (
    fixed_partition,
    fixed_slots,
    level_partition,
    segment_membership,
)

COMPOSITIONS: dict[str, type[keras.layers.Layer]] = {
    "max": MaxComposition,
    "lstm": LSTMComposition,
    "attention": AttentionComposition,
}


@registry.models.register
class MultiGranularityTransformer(PhraseTransformer):
    """The Transformer with encoder layers whose heads attend to tokens and segments.

    Hao et al. (2019). The segments have a fixed length, or are the constituents of the top levels
    of the sentence's tree; see `MultiGranularityAttention`.

    Shapes: N partitions, P rows for segments, the others as in `Transformer`.

    Args:
        hparams: sizes, dropouts and granularities.
        vocab_size: V.

    With a `tag_loss_weight` lambda, an update minimises the translation loss + $lambda L_tag$, Eq.
    (12), where L_tag is the sum over all labelled segments in these encoder layers.

    Call arguments:
        features: as for `Transformer`; with granularities from trees also "levels", (B, S) int,
            see `ops.partition.level_partition`; and "tags", (B, S) int, see `features.TAGS`, where
            their labels are to be predicted.
        training: whether dropout is active.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.multi_granularity import MultiGranularityTransformer

        registry.discover()
        hparams = registry.hparams["mgsa_ngram_san_demo"]()
        model = MultiGranularityTransformer.from_hparams(hparams, vocab_size=4000)
        features = {"inputs": np.array([[5, 6, 7, 1]]), "targets": np.array([[8, 9, 1]])}
        logits = model(features)  # (1, 3, 4000)
        ```
    """

    hparams_class = MultiGranularityHParams
    hparams: MultiGranularityHParams

    def __init__(self, hparams: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(hparams, *args, **kwargs)
        self.tag_classifiers = [
            TagClassifier(
                heads=[name for name in heads_of(hparams) if name != TOKENS],
                partitions=[name for name in hparams.granularities if is_level(name)],
                classes=TAG_CLASSES,
                dtype=self.dtype_policy,
                name=f"tag_classifier_{layer}",
            )
            for layer in (hparams.granularity_layers if hparams.tag_loss_weight else ())
        ]

    def build(self, input_shape: Any = None) -> None:
        """Create every variable."""
        super().build(input_shape)
        for classifier in self.tag_classifiers:
            width = self.hparams.hidden_size // self.hparams.num_heads
            classifier.build((None, None, None, width))

    @property
    def partition_names(self) -> tuple[str, ...]:
        """The granularities that have segments."""
        return tuple(name for name in self.hparams.granularities if name != TOKENS)

    def make_encoder_layer(self, index: int) -> EncoderLayer:
        """Return layer `index` of the encoder."""
        if index + 1 not in self.hparams.granularity_layers:
            return super().make_encoder_layer(index)
        parts = self.encoder_layer_parts(index)
        return MultiGranularityEncoderLayer(
            **{**parts, "self_attention": self.make_granularities("self_attention")}
        )

    def make_granularities(self, name: str) -> MultiGranularityAttention:
        """Return a new self-attention with the granularities of the hparams."""
        hparams = self.hparams
        heads = heads_of(hparams)
        shared = {"num_heads": len(heads) - heads.count(TOKENS), "dtype": self.dtype_policy}
        kinds = [parse_granularity(partition) for partition in self.partition_names]
        bounded = all(kind == "ngram" for kind, _ in kinds)
        interaction: keras.layers.Layer | None = None
        if hparams.interaction == "lstm":
            interaction = HeadLSTM(name="interaction", **shared)
        elif hparams.interaction == "on_lstm":
            interaction = HeadONLSTM(
                chunk_size=hparams.on_lstm_chunk_size, name="interaction", **shared
            )
        return MultiGranularityAttention(
            hidden_size=hparams.hidden_size,
            heads=heads,
            partitions=self.partition_names,
            composition=COMPOSITIONS[hparams.composition](
                longest=max(number for _, number in kinds) if bounded else None,
                name="composition",
                **shared,
            ),
            interaction=interaction,
            dropout=hparams.attention_dropout,
            initializer_gain=hparams.attention_initializer_gain,
            dtype=self.dtype_policy,
            name=name,
        )

    def memberships(self, features: Features) -> Any:
        """Return which tokens the segments of each partition contain, (B, N, P, S) bool.

        Raises:
            UserError: the model reads trees, but the features contain none.
        """
        inputs, pairs = features["inputs"], features.get(PAIRS["source"])
        length, real = ops.shape(inputs)[1], padding_mask(inputs)
        numbers = []
        for name in self.partition_names:
            kind, number = parse_granularity(name)
            if kind == "ngram":
                numbers.append(fixed_partition(real, number, pairs))
            elif "levels" not in features:
                raise UserError(
                    f"granularities={list(self.hparams.granularities)}: these sentences have "
                    "no trees; parse them, or use an hparams set with n-grams"
                )
            else:
                numbers.append(level_partition(features["levels"], number))
        shortest = min(
            number if kind == "ngram" else 1
            for kind, number in map(parse_granularity, self.partition_names)
        )
        slots = fixed_slots(length, shortest) if pairs is None else length
        return segment_membership(ops.stack(numbers, axis=1), slots)

    def partitions(self, features: Features) -> dict[str, Any]:
        """Return each partition of the source, (B, P, S) bool, by the name of its granularity."""
        memberships = self.memberships(features)
        return {name: memberships[:, i] for i, name in enumerate(self.partition_names)}

    def partition_classes(self, features: Features) -> dict[str, Any]:
        """Return the classes that the topmost classifier predicts, (B, P) int by granularity."""
        found: dict[str, Any] = {}
        if self.tag_classifiers:
            _, _, segments = self._run_layers(features, self.memberships(features), training=False)
            logits = self.tag_classifiers[-1](segments[-1])
            found = {name: ops.argmax(own, axis=-1) for name, own in logits.items()}
        return found

    def encode(
        self, features: Features, training: bool = False, folded: Cache | None = None
    ) -> Encoded:
        """Return the encoded source: "tokens" (B, S, D) and their mask; see `Transformer`."""
        del folded
        memberships = self.memberships(features)
        x, weights, segments = self._run_layers(features, memberships, training=training)
        losses: dict[str, Mean] = {}
        # Only the batches of training and development sets contain labels.
        if "tags" in features:
            for classifier, vectors in zip(self.tag_classifiers, segments, strict=False):
                found = self._tag_losses(classifier, vectors, features, memberships)
                losses = add_means(losses, found)
        return Encoded(
            memory={"tokens": self._finish_encoding(x)},
            masks={"tokens": source_mask(features)},
            weights={"encoder": weights},
            losses=losses,
            objective=self.hparams.tag_loss_weight * losses["tag_loss"].total if losses else 0.0,
        )

    def _run_layers(
        self, features: Features, memberships: Any, *, training: bool
    ) -> tuple[Any, list[Any], list[Any]]:
        """Return the last layer's output, all weights, and the segment vectors of each layer.

        Layers without granularities have no segment vectors.
        """
        x, mask = self._embed_source(features, training), source_mask(features)
        pairs = given(pairs=features.get(PAIRS["source"]))
        places = given(positions=packed_positions(features, "source"))
        weights: list[Any] = []
        segments: list[Any] = []
        for layer in self.encoder_layers:
            if isinstance(layer, MultiGranularityEncoderLayer):
                x, self_weights, vectors = layer(
                    x, memberships, attention_mask=mask, training=training, **pairs
                )
                segments.append(vectors)
            else:
                x, self_weights = layer(x, attention_mask=mask, training=training, **places)
            weights.append(self_weights)
        return x, weights, segments

    def _tag_losses(
        self,
        classifier: TagClassifier,
        segments: Any,
        features: Features,
        memberships: Any,
    ) -> dict[str, Mean]:
        """Return the loss of predicting the labels of a layer's segments (B, G, P, d_k)."""
        losses: dict[str, Mean] = {}
        for name, logits in classifier(segments).items():
            membership = memberships[:, self.partition_names.index(name)]
            level = parse_granularity(name)[1]
            classes = classes_of_segments(features["tags"], membership, level)
            losses = add_means(losses, tag_means(logits, classes))
        return losses
