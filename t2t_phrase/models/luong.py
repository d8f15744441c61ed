"""Luong's recurrent encoder-decoder."""

from __future__ import annotations

from typing import Any, ClassVar

from keras import ops

from t2t_phrase import registry
from t2t_phrase.layers.attention.layout import AttentionMap
from t2t_phrase.layers.common.dropout import Dropout
from t2t_phrase.layers.common.word_dropout import WordDropout
from t2t_phrase.layers.luong.attentional_vector import AttentionalVector
from t2t_phrase.layers.luong.concat_score import ConcatScore
from t2t_phrase.layers.luong.dot_score import DotScore
from t2t_phrase.layers.luong.general_score import GeneralScore
from t2t_phrase.layers.luong.global_attention import GlobalAttention
from t2t_phrase.layers.luong.input_feeding_decoder import InputFeedingDecoder
from t2t_phrase.layers.luong.local_attention import LocalAttention
from t2t_phrase.layers.luong.local_monotonic_attention import LocalMonotonicAttention
from t2t_phrase.layers.luong.local_predictive_attention import LocalPredictiveAttention
from t2t_phrase.layers.luong.location_score import LocationScore
from t2t_phrase.layers.luong.recurrent_decoder import RecurrentDecoder
from t2t_phrase.layers.luong.score import Score
from t2t_phrase.layers.luong.window import Windows
from t2t_phrase.layers.recurrent.bidirectional_lstm import BidirectionalLSTM
from t2t_phrase.layers.recurrent.lstm import LSTM
from t2t_phrase.layers.recurrent.word_embedding import WordEmbedding
from t2t_phrase.models.base import Cache, Encoded, EncoderDecoder, Features, Loss, Step
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.models.r_drop import paired_token_losses, r_drop_loss, twice
from t2t_phrase.models.softmax_map import softmax_map
from t2t_phrase.models.token_losses import loss_of_tokens, token_losses
from t2t_phrase.ops.masks import memory_mask, padding_mask
from t2t_phrase.ops.product import product
from t2t_phrase.ops.product_layout import kept
from t2t_phrase.ops.rows import take_rows

_SCORES: dict[str, type[Score]] = {
    "dot": DotScore,
    "general": GeneralScore,
    "concat": ConcatScore,
    "location": LocationScore,
}
_LOCAL: dict[str, type[LocalAttention]] = {
    "local_m": LocalMonotonicAttention,
    "local_p": LocalPredictiveAttention,
}


@registry.models.register
class Luong(EncoderDecoder):
    """LSTM encoder-decoder with global, local or no attention.

    Luong et al. (2015):

        p(y_t | y_<t, x) = softmax(W_s h~_t)

    Every layer of the decoder starts from the last state of the same layer of the encoder. Source
    embeddings, target embeddings and W_s are three matrices; no map but the gates has a bias.

    Differs from the paper: sources end in EOS, which the encoder reads (first if it reads
    backwards) and which may be attended to; dropout is also applied to the input of the softmax,
    as in Zaremba et al. (2014), which the paper follows.

    Shapes: B batch, S source length, T target length, D hidden size, V target vocabulary size, K
    beams.

    Args:
        hparams: sizes, attention and dropout.
        vocab_size: entries of the source vocabulary.
        target_vocab_size: V; None: source and target share one vocabulary.

    Call arguments and results are those of `EncoderDecoder`.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.luong import Luong

        registry.discover()
        hparams = registry.hparams["luong_local_p_general_feed_demo"]()
        model = Luong.from_hparams(hparams, vocab_size=4000, target_vocab_size=3000)
        features = {"inputs": np.array([[5, 6, 7, 1]]), "targets": np.array([[8, 9, 1]])}
        logits = model(features)  # (1, 3, 3000)
        ```
    """

    hparams_class: ClassVar[type[LuongHParams]] = LuongHParams
    # The class of global attention.
    global_attention: ClassVar[type[AttentionalVector]] = GlobalAttention

    def __init__(
        self,
        hparams: LuongHParams,
        vocab_size: int,
        target_vocab_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("dtype", hparams.dtype_policy)
        super().__init__(**kwargs)
        self.hparams = hparams
        self.vocab_size = vocab_size
        self.target_vocab_size = target_vocab_size
        rows = target_vocab_size or vocab_size
        self.source_embedding = self._embedding("source_embedding", vocab_size)
        self.target_embedding = self._embedding("target_embedding", rows)
        self.softmax = self._output_map(rows)
        self.encoder_layers = [
            self._encoder_layer(f"encoder_layer_{index}")
            for index in range(hparams.num_hidden_layers)
        ]
        decoder: type[RecurrentDecoder] = RecurrentDecoder
        if hparams.input_feeding:
            decoder = InputFeedingDecoder
        self.decoder = decoder(
            num_layers=hparams.num_hidden_layers,
            attention=self.make_attention(),
            name="decoder",
            **self._layer_options(),
        )
        self.output_dropout = Dropout(hparams.dropout, dtype=self.dtype_policy)
        self.source_word_dropout = WordDropout(hparams.source_word_dropout)
        self.target_word_dropout = WordDropout(hparams.target_word_dropout)

    def _embedding(self, name: str, rows: int) -> WordEmbedding:
        return WordEmbedding(
            vocab_size=rows,
            hidden_size=self.hparams.hidden_size,
            initial_range=self.hparams.initial_range,
            dtype=self.dtype_policy,
            name=name,
        )

    def _output_map(self, rows: int) -> WordEmbedding:
        """Return W_s, the matrix of the softmax over `rows` tokens."""
        return self._embedding("softmax", rows)

    def _encoder_layer(self, name: str) -> LSTM | BidirectionalLSTM:
        reads = self.hparams.encoder_reads
        if reads == "both":
            return BidirectionalLSTM(name=name, **self._layer_options())
        return LSTM(name=name, go_backwards=reads == "backwards", **self._layer_options())

    def _layer_options(self) -> dict[str, Any]:
        return {
            "units": self.hparams.hidden_size,
            "dropout": self.hparams.dropout,
            "initial_range": self.hparams.initial_range,
            "dtype": self.dtype_policy,
        }

    def make_attention(self) -> AttentionalVector | None:
        """Return a new attention layer or None; a model with another attention overrides this."""
        hparams = self.hparams
        if hparams.attention == "none":
            return None
        common: dict[str, Any] = {
            "initial_range": hparams.initial_range,
            "dtype": self.dtype_policy,
        }
        location = {"positions": hparams.attention_positions}
        own = location if hparams.attention_score == "location" else {}
        shared: dict[str, Any] = {
            "units": hparams.hidden_size,
            "score": _SCORES[hparams.attention_score](name="score", **own, **common),
            "name": "attention",
            **common,
        }
        if hparams.attention == "global":
            return self.global_attention(**shared)
        return _LOCAL[hparams.attention](window=hparams.attention_window, **shared)

    def build(self, input_shape: Any = None) -> None:
        """Create every variable."""
        shape = (None, None, self.hparams.hidden_size)
        for embedding in (self.source_embedding, self.target_embedding, self.softmax):
            embedding.build()
        for layer in self.encoder_layers:
            layer.build(shape)
        self.decoder.build(shape, shape)
        self.built = True

    def call(self, features: Features, training: bool = False) -> Any:
        """Return the logits of every target token given those before it."""
        hidden = self._hidden(features, training)
        return ops.cast(ops.matmul(hidden, self._softmax_map()), "float32")

    def _hidden(self, features: Features, training: bool = False) -> Any:
        """Return the input of the softmax, (B, T, D)."""
        hidden, _ = self.decode(features, self.encode(features, training), training)
        return self.output_dropout(hidden, training=training)

    def batch_loss(self, features: Features, training: bool = False) -> Loss:
        """Return the cross-entropy; see `Transformer.batch_loss`."""
        r_drop = self.hparams.r_drop if training else 0.0
        if r_drop:
            features = twice(features)
        hidden = self._hidden(features, training)
        targets = features["targets"]
        losses = self._paired_losses if r_drop else self._token_losses
        loss = loss_of_tokens(losses(hidden, targets), targets)
        return r_drop_loss(loss, weight=r_drop) if r_drop else loss

    def token_log_probabilities(self, features: Features) -> Any:
        """Return (B, T) float32: the log-probability of each target token, in nats."""
        return -self._token_losses(self._hidden(features), features["targets"])["nll"]

    def _token_losses(self, hidden: Any, targets: Any) -> dict[str, Any]:
        smoothing = self.hparams.label_smoothing
        return token_losses(hidden, self.softmax.kernel, targets, label_smoothing=smoothing)

    def _paired_losses(self, hidden: Any, targets: Any) -> dict[str, Any]:
        smoothing = self.hparams.label_smoothing
        return paired_token_losses(hidden, self.softmax.kernel, targets, label_smoothing=smoothing)

    def encode(self, features: Features, training: bool = False) -> Encoded:
        """Return the encoded source.

        Returns:
            "tokens" (B, S, D), the states of the top layer in the order of the sentence, with their
            mask; and "state", h and c of each layer (B, D) after the last token read, in a tuple.
        """
        x = self.source_embedding(self.source_word_dropout(features["inputs"], training=training))
        real = padding_mask(features["inputs"])
        states: list[Any] = []
        for layer in self.encoder_layers:
            x, state = layer(x, real, training=training)
            states += state
        return Encoded(
            memory={"tokens": x, "state": tuple(states)},
            masks={"tokens": memory_mask(features["inputs"])},
            weights={},
        )

    def decode(
        self, features: Features, encoded: Encoded, training: bool = False
    ) -> tuple[Any, Any]:
        """Return h~ (B, T, D) of every target position, and the attention weights or None.

        Args:
            features: see the class.
            encoded: from `encode`.
            training: whether dropout is active.
        """
        return self.decoder(
            self._read_targets(features, training),
            encoded.memory["tokens"],
            encoded.masks["tokens"],
            initial_state=encoded.memory["state"],
            training=training,
            alignment=self._alignment(features),
        )

    def _alignment(self, features: Features) -> Any | None:
        """Return the alignment of the targets for the attention; None: it reads no alignment."""
        del features
        return None

    def _read_targets(self, features: Features, training: bool = False) -> Any:
        ids = self.target_word_dropout(features["targets"], training=training)
        # The output at i has read the targets before i; the first reads zeros.
        ids = ops.pad(ids[:, :-1], [(0, 0), (1, 0)])
        return self.target_embedding(ids)

    def source_states(self, features: Features, training: bool = False) -> Any:
        """Return the states of the encoder's top layer (B, S, D)."""
        return self.encode(features, training).memory["tokens"]

    def attention_maps(self) -> dict[str, AttentionMap]:
        """Return the maps of the attention weights; none without attention."""
        attention = self.decoder.attention
        if attention is None:
            return {}
        return {"cross": AttentionMap("attention", "target", "source", (attention.layout,))}

    def attention_weights(self, features: Features) -> dict[str, list[Any]]:
        """Return the attention weights, teacher-forced: "cross", [(B, 1, T, S)]."""
        return self._named(self.decode(features, self.encode(features))[1])

    def attention_windows(self, features: Features) -> dict[str, list[Windows | None]]:
        """Return the windows of local attention, teacher-forced: "cross", one layer."""
        attention = self.decoder.attention
        if not isinstance(attention, LocalAttention):
            return {}
        encoded = self.encode(features)
        memory, mask = encoded.memory["tokens"], encoded.masks["tokens"]
        top = self.decoder.top_states(
            self._read_targets(features), memory, mask, initial_state=encoded.memory["state"]
        )
        return {"cross": [attention.windows(top, self.decoder.project_memory(memory), mask)]}

    def _named(self, weights: Any) -> dict[str, list[Any]]:
        return {} if weights is None else {"cross": [weights]}

    def _softmax_map(self) -> Any:
        return softmax_map(self.softmax.kernel, self.compute_dtype)

    def fold_weights(self) -> Cache:
        """Return the vocabulary map and the LSTMs' kernels as `ops.product_layout` keeps them."""
        kernels = [kept(kernel) for kernel in self.decoder.fused_kernels()]
        return {"softmax": kept(self._softmax_map()), "kernels": kernels}

    def prepare_memory(self, features: Features, folded: Cache | None = None) -> Cache:
        """Return all that decoding reads of the source; see `EncoderDecoder`."""
        return self._memory_of(
            self.encode(features), self.fold_weights() if folded is None else folded
        )

    def _memory_of(self, encoded: Encoded, folded: Cache) -> Cache:
        return {
            "mask": encoded.masks["tokens"],
            "projected": self.decoder.project_memory(encoded.memory["tokens"]),
            "state": encoded.memory["state"],
            "softmax": folded["softmax"],
            "kernels": folded["kernels"],
        }

    def start_cache(self, memory: Cache, beam_size: int, length: Any) -> Cache:
        """Return the last state of the encoder for B * K outputs."""
        del length
        beams = [ops.repeat(part[:, None], beam_size, axis=1) for part in memory["state"]]
        return {"state": self.decoder.start_state(beams)}

    def step(self, ids: Any, index: Any, memory: Cache, cache: Cache) -> Step:
        """Decode the tokens at time `index`; see `EncoderDecoder`."""
        hidden, weights, state = self._advance(ids, index, memory, cache)
        logits = ops.cast(product(hidden, memory["softmax"]), "float32")
        return Step(logits, {"state": state}, self._named(weights))

    def _advance(self, ids: Any, index: Any, memory: Cache, cache: Cache) -> tuple[Any, Any, Any]:
        """Return h~ (B, K, D), the attention weights and the next state."""
        return self.decoder.step(
            self.target_embedding(ids),
            cache["state"],
            index,
            kernels=memory["kernels"],
            projected=memory["projected"],
            attention_mask=memory["mask"],
        )

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Follow a change of beams: `parents` (B, K) names the beam each new one continues."""
        return {"state": tuple(take_rows(part, parents) for part in cache["state"])}
