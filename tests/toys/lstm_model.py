"""An LSTM encoder-decoder with dot-product attention, made of public interfaces only."""

import dataclasses
from typing import ClassVar

from keras import layers, ops

from t2t_phrase import registry
from t2t_phrase.layers.attention.layout import AttentionMap, Layout
from t2t_phrase.layers.common.token_embedding import TokenEmbedding
from t2t_phrase.layers.recurrent.lstm import LSTM
from t2t_phrase.models.base import EncoderDecoder, Step
from t2t_phrase.models.token_losses import loss_of_tokens, token_losses
from t2t_phrase.ops.attention import attention_weights
from t2t_phrase.ops.masks import memory_mask, padding_mask
from t2t_phrase.training_hparams import TrainingHParams


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToyLstmHParams(TrainingHParams):
    model: ClassVar[str] = "toy_lstm"
    hidden_size: int = 16
    dropout: float = 0.1


@registry.models.register
class ToyLstm(EncoderDecoder):
    """Luong et al. (2015), Section 3.1, with one layer; the source is read in reverse."""

    hparams_class = ToyLstmHParams

    def __init__(self, hparams, vocab_size, target_vocab_size=None, **kwargs):
        super().__init__(dtype=hparams.dtype_policy, **kwargs)
        self.hparams, self.vocab_size, size = hparams, vocab_size, hparams.hidden_size
        own = {"dtype": self.dtype_policy}
        lstm = {"dropout": hparams.dropout, "recurrent_dropout": hparams.dropout, **own}
        self.source = TokenEmbedding(vocab_size=vocab_size, hidden_size=size, name="source", **own)
        rows = target_vocab_size or vocab_size
        self.target = TokenEmbedding(vocab_size=rows, hidden_size=size, name="target", **own)
        self.encoder = LSTM(units=size, go_backwards=True, name="encoder", **lstm)
        self.decoder = LSTM(units=size, name="decoder", **lstm)
        self.combine = layers.Dense(size, activation="tanh", name="combine", **own)

    def build(self, input_shape=None):
        for layer in (self.source, self.target, self.encoder, self.decoder):
            layer.build((None, None, self.hparams.hidden_size))
        self.combine.build((None, None, 2 * self.hparams.hidden_size))

    def call(self, features, training=False):
        return self.logits(self.decode(features, training)[0])

    def batch_loss(self, features, training=False):
        return loss_of_tokens(self.token_losses(features, training), features["targets"])

    def token_log_probabilities(self, features):
        return -self.token_losses(features)["nll"]

    def token_losses(self, features, training=False):
        hidden, targets = self.decode(features, training)[0], features["targets"]
        smoothing = self.hparams.label_smoothing
        return token_losses(hidden, self.target.kernel, targets, label_smoothing=smoothing)

    def prepare_memory(self, features, folded=None, training=False):
        ids = features["inputs"]
        tokens, state = self.encoder(self.source(ids), padding_mask(ids), training=training)
        return {"tokens": tokens, "mask": memory_mask(ids), "state": state}

    def decode(self, features, training=False):
        memory = self.prepare_memory(features, training=training)
        ids = ops.pad(features["targets"][:, :-1], [(0, 0), (1, 0)])
        query, _ = self.decoder(self.target(ids), initial_state=memory["state"], training=training)
        return self.attend(query, memory)

    def attend(self, query, memory):
        logits = ops.einsum("btd,bsd->bts", query, memory["tokens"])
        weights = attention_weights(logits[:, None], memory["mask"])
        context = ops.matmul(ops.cast(weights[:, 0], query.dtype), memory["tokens"])
        return self.combine(ops.concatenate([context, query], axis=-1)), weights

    def logits(self, hidden):
        kernel = ops.cast(ops.convert_to_tensor(self.target.kernel), hidden.dtype)
        return ops.cast(ops.matmul(hidden, ops.transpose(kernel)), "float32")

    def start_cache(self, memory, beam_size, length):
        return {"past": tuple(ops.repeat(x[:, None], beam_size, 1) for x in memory["state"])}

    def step(self, ids, index, memory, cache):
        query, state = self.decoder.step(self.target(ids), cache["past"])
        hidden, weights = self.attend(query, memory)
        return Step(self.logits(hidden), {"past": state}, {"cross": [weights]})

    def reorder(self, cache, parents):
        return {"past": tuple(ops.take_along_axis(x, parents[..., None], 1) for x in cache["past"])}

    def attention_maps(self):
        return {"cross": AttentionMap("attention", "target", "source", (Layout(num_heads=1),))}

    def attention_weights(self, features):
        return {"cross": [self.decode(features)[1]]}
