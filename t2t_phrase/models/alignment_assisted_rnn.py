"""The recurrent lexical model: LSTMs whose attention is biased by the alignment of the target."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from t2t_phrase import registry
from t2t_phrase.features import ALIGNMENT, Feature
from t2t_phrase.layers.alignment.biased_attention import BiasedAttention
from t2t_phrase.layers.luong.attentional_vector import AttentionalVector
from t2t_phrase.models.base import Cache, Features
from t2t_phrase.models.lexical_model import LexicalModel
from t2t_phrase.models.luong import Luong
from t2t_phrase.models.luong_hparams import LuongHParams


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlignmentAssistedRnnHParams(LuongHParams):
    """The fields of `LuongHParams`; the attention is global, with any score but "location"."""

    model: ClassVar[str] = "alignment_assisted_rnn"
    cannot_pack: ClassVar[str] = LuongHParams.cannot_pack

    attention: Literal["none", "global", "local_m", "local_p"] = "global"

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that the model reads: the alignment of the target."""
        return (ALIGNMENT,)

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        if self.attention != "global":
            yield f"attention={self.attention}: an alignment can bias attention=global only"
        elif self.attention_score == "location":
            yield "attention_score=location: has no keys that an alignment could bias"


def with_biased_attention(base: LuongHParams, **changes: Any) -> AlignmentAssistedRnnHParams:
    """Return `base` with an attention that is biased by the alignment.

    Args:
        base: the sizes and the recipe, with global attention.
        **changes: other fields of `AlignmentAssistedRnnHParams`.
    """
    return AlignmentAssistedRnnHParams(**{**vars(base), **changes})


@registry.models.register
class AlignmentAssistedRnn(LexicalModel, Luong):
    """Luong's model with `BiasedAttention`: the row "RNN" of Alkhouli et al. (2018), Table 2.

    Given the alignment of the target, it trains and scores like any model. To translate, it needs
    an alignment model of any kind that proposes positions, see `models.aligned_pair.AlignedPair`.

    Args:
        hparams: sizes, attention and dropout.
        vocab_size: entries of the source vocabulary.
        target_vocab_size: V; None: source and target share one vocabulary.

    Call arguments:
        features: as for `Luong`, and "alignment", (B, T) int: the source position that each target
            token is aligned with.
        training: whether dropout is active.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.alignment_assisted_rnn import AlignmentAssistedRnn

        registry.discover()
        hparams = registry.hparams["alignment_assisted_rnn_demo"]()
        model = AlignmentAssistedRnn.from_hparams(hparams, vocab_size=4000)
        features = {
            "inputs": np.array([[5, 6, 7, 1]]),
            "targets": np.array([[8, 9, 1]]),
            "alignment": np.array([[1, 0, 3]]),
        }
        logits = model(features)  # (1, 3, 4000)
        ```
    """

    hparams_class: ClassVar[type[LuongHParams]] = AlignmentAssistedRnnHParams
    global_attention: ClassVar[type[AttentionalVector]] = BiasedAttention
    memory_of_sentences = ("mask", "projected", "state")
    alignment_title = "aligned position, which biases the attention"

    def _alignment(self, features: Features) -> Any:
        return features["alignment"]

    def align_memory(self, memory: Cache, alignment: Any) -> Cache:
        """Return the memory for tokens that are aligned with known positions."""
        return {**memory, "projected": self.decoder.align(memory["projected"], alignment)}
