"""A Transformer that also recovers the source from what it encoded: an auxiliary loss by name."""

import dataclasses
from typing import ClassVar

from keras import ops

from t2t_phrase import registry
from t2t_phrase.models.base import Mean
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.ops.masks import padding_mask


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToyAuxiliaryHParams(TransformerHParams):
    model: ClassVar[str] = "toy_auxiliary"
    recovery_weight: float = 0.5


@registry.models.register
class ToyAuxiliary(Transformer):
    """The loss of a source token counts `recovery_weight` times that of a target token."""

    hparams_class = ToyAuxiliaryHParams

    def encode(self, features, training=False, folded=None):
        encoded = super().encode(features, training=training, folded=folded)
        tokens = self.token_losses(encoded.memory["tokens"], features["inputs"])
        real = ops.cast(padding_mask(features["inputs"]), "float32")
        total, count = ops.sum(tokens["loss"] * real), ops.sum(real)
        right = ops.sum(tokens["accuracy"] * real)
        return encoded._replace(
            losses={"recovery": Mean(total, count), "recovery_accuracy": Mean(right, count)},
            objective=encoded.objective + self.hparams.recovery_weight * total,
        )
