"""The lexical model: a Transformer that reads the alignment of each target token."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar

from t2t_phrase import registry
from t2t_phrase.features import ALIGNMENT, Feature
from t2t_phrase.layers.alignment.aligned_attention import AlignedAttention
from t2t_phrase.layers.alignment.aligned_decoder_layer import AlignedDecoderLayer
from t2t_phrase.models.base import Cache, Encoded, Features
from t2t_phrase.models.lexical_model import LexicalModel
from t2t_phrase.models.packed_rows import source_places
from t2t_phrase.models.phrase_transformer import PhraseHParams, PhraseTransformer
from t2t_phrase.models.transformer_hparams import TransformerHParams


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlignmentAssistedHParams(PhraseHParams):
    """The fields of `PhraseHParams`; the attentions may be of any kind, plain by default."""

    model: ClassVar[str] = "alignment_assisted_transformer"
    cannot_pack: ClassVar[str] = ""

    encoder_attention: str = "none"
    decoder_attention: str = "none"
    cross_attention: str = "none"

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that the model reads: the alignment of the target."""
        return (ALIGNMENT,)


def with_alignment_heads(base: TransformerHParams, **changes: Any) -> AlignmentAssistedHParams:
    """Return `base` with an alignment head in every cross-attention.

    Args:
        base: the sizes and the recipe; a `PhraseHParams` also gives its attentions.
        **changes: other fields of `AlignmentAssistedHParams`.
    """
    return AlignmentAssistedHParams(**{**vars(base), **changes})


@registry.models.register
class AlignmentAssistedTransformer(LexicalModel, PhraseTransformer):
    """The Transformer with one more head in every cross-attention: the alignment head.

    Alkhouli et al. (2018), Section 3.1; everything but that head is as in `PhraseTransformer`.
    Given the alignment of the target, it trains and scores like any model. To translate, it needs
    an alignment model that proposes positions, see `models.aligned_pair.AlignedPair`.

    Args:
        hparams: sizes, dropouts and attentions.
        vocab_size: entries of the source vocabulary.
        target_vocab_size: V; None: source and target share one vocabulary.

    Call arguments:
        features: as for `Transformer`, and "alignment", (B, T) int: the source position that each
            target token is aligned with.
        training: whether dropout is active.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.alignment_assisted import AlignmentAssistedTransformer

        registry.discover()
        hparams = registry.hparams["alignment_assisted_demo"]()
        model = AlignmentAssistedTransformer.from_hparams(hparams, vocab_size=4000)
        features = {
            "inputs": np.array([[5, 6, 7, 1]]),
            "targets": np.array([[8, 9, 1]]),
            "alignment": np.array([[1, 0, 3]]),
        }
        logits = model(features)  # (1, 3, 4000)
        ```
    """

    hparams_class = AlignmentAssistedHParams
    hparams: AlignmentAssistedHParams
    memory_of_sentences = ("mask", "layers")

    def make_decoder_layer(self, index: int) -> AlignedDecoderLayer:
        """Return layer `index` of the decoder."""
        hparams = self.hparams
        parts = self.decoder_layer_parts(index)
        parts["cross_attention"] = AlignedAttention(
            attention=parts["cross_attention"],
            hidden_size=hparams.hidden_size,
            head_size=hparams.hidden_size // hparams.num_heads,
            dtype=self.dtype_policy,
            name="alignment_head",
        )
        return AlignedDecoderLayer(**parts)

    def _decoder_arguments(self, features: Features, encoded: Encoded) -> dict[str, Any]:
        alignment = source_places(features, features["alignment"])
        return {**super()._decoder_arguments(features, encoded), "alignment": alignment}

    def align_memory(self, memory: Cache, alignment: Any) -> Cache:
        """Return the memory for tokens that are aligned with known positions."""
        layers: Iterable[tuple[Any, Cache]] = zip(
            self.decoder_layers, memory["layers"], strict=True
        )
        aligned = [layer.align(projected, alignment) for layer, projected in layers]
        return {**memory, "layers": aligned}
