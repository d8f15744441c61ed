"""A Transformer that reads a number of each source word and predicts one of each target word."""

import dataclasses
from typing import ClassVar

from keras import initializers, layers, losses, ops

from t2t_phrase import registry
from t2t_phrase.features import Feature
from t2t_phrase.models.base import Loss, Mean
from t2t_phrase.models.transformer import Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.ops.masks import padding_mask

NUMBERS = 5  # values of both features


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToyFeaturedHParams(TransformerHParams):
    model: ClassVar[str] = "toy_featured"

    @property
    def features(self):
        return (
            Feature(name="cases", stream="cases"),
            Feature(name="tags", side="target", stream="tags", pad=-1),
        )


@registry.models.register
class ToyFeatured(Transformer):
    """What a translation scores includes the probability of its tags."""

    hparams_class = ToyFeaturedHParams

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        own = {"dtype": self.dtype_policy}
        large = initializers.RandomNormal(stddev=1.0)
        self.cases = layers.Embedding(
            NUMBERS, self.hparams.hidden_size, embeddings_initializer=large, name="cases", **own
        )
        self.tags = layers.Dense(NUMBERS, name="tags", **own)

    def build(self, input_shape=None):
        super().build(input_shape)
        self.cases.build()
        self.tags.build((None, None, self.hparams.hidden_size))

    def encode(self, features, training=False, folded=None):
        encoded = super().encode(features, training=training, folded=folded)
        tokens = encoded.memory["tokens"] + self.cases(features["cases"])
        return encoded._replace(memory={**encoded.memory, "tokens": tokens})

    def batch_loss(self, features, training=False):
        decoded = self.decode(features, self.encode(features, training), training)
        tokens = self.token_losses(decoded.hidden, features["targets"])
        tokens["tags"] = self.tag_losses(decoded.hidden, features)
        real = ops.cast(padding_mask(features["targets"]), "float32")
        means = {name: Mean(ops.sum(x * real), ops.sum(real)) for name, x in tokens.items()}
        return Loss(means["loss"].total + means["tags"].total, means)

    def token_log_probabilities(self, features):
        hidden = self.decode(features, self.encode(features)).hidden
        words = self.token_losses(hidden, features["targets"])["nll"]
        return -words - self.tag_losses(hidden, features)

    def tag_losses(self, hidden, features):
        tags, logits = ops.maximum(features["tags"], 0), ops.cast(self.tags(hidden), "float32")
        return losses.sparse_categorical_crossentropy(tags, logits, from_logits=True)
