"""The Transformer: what its encoder, decoder, embeddings and softmax compute."""

from __future__ import annotations

from typing import Any, NamedTuple

from keras import ops

from t2t_phrase import registry
from t2t_phrase.features import IDS, Side
from t2t_phrase.layers.attention.layout import AttentionMap
from t2t_phrase.layers.common.given import given
from t2t_phrase.models.base import Cache, Encoded, Features, Loss, Step
from t2t_phrase.models.packed_rows import (
    cross_mask,
    is_packed,
    packed_positions,
    source_mask,
    target_mask,
)
from t2t_phrase.models.r_drop import paired_token_losses, r_drop_loss, twice
from t2t_phrase.models.softmax_map import softmax_map
from t2t_phrase.models.token_losses import loss_of_tokens, token_losses
from t2t_phrase.models.transformer_layers import TransformerLayers
from t2t_phrase.ops.bias import add_bias
from t2t_phrase.ops.blocks import add_block
from t2t_phrase.ops.masks import history_mask
from t2t_phrase.ops.position import positions, positions_at, timing_signal
from t2t_phrase.ops.product import product
from t2t_phrase.ops.product_layout import kept
from t2t_phrase.ops.rows import take_rows


class Decoded(NamedTuple):
    """The output of the decoder (B, T, D), and its attention weights by name."""

    hidden: Any
    weights: dict[str, list[Any]]


@registry.models.register
class Transformer(TransformerLayers):
    """Encoder-decoder Transformer as tensor2tensor computes it.

    Vaswani et al. (2017); details as in `transformer_base`: sublayers read normalised inputs, each
    stack ends in one more normalisation, and one matrix serves as the embeddings and the softmax.

    Shapes: B batch, S source length, T target length, D hidden size, V target vocabulary size, K
    beams, L longest output.

    Args:
        hparams: sizes and dropouts.
        vocab_size: entries of the source vocabulary.
        target_vocab_size: V; None: source and target share one vocabulary.

    Call arguments and results are those of `EncoderDecoder`.

    Raises:
        HParamsError: there are two vocabularies, but one embedding for both.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.transformer import Transformer

        registry.discover()
        hparams = registry.hparams["transformer_demo"]()
        model = Transformer.from_hparams(hparams, vocab_size=4000)
        features = {"inputs": np.array([[5, 6, 7, 1]]), "targets": np.array([[8, 9, 1]])}
        logits = model(features)  # (1, 3, 4000)
        cross_weights = model.attention_weights(features)["cross"]
        of_last_layer = cross_weights[-1]  # (1, 4, 3, 4)
        ```
    """

    def call(self, features: Features, training: bool = False) -> Any:
        """Return the logits of every target token given those before it."""
        encoded = self.encode(features, training=training)
        return self.logits(self.decode(features, encoded, training=training).hidden)

    def batch_loss(self, features: Features, training: bool = False) -> Loss:
        """Return the smoothed cross-entropy, which is 0 for a perfect model.

        Besides "loss" and "nll", the result has "accuracy", the share of target tokens with the
        highest probability.
        """
        r_drop = self.hparams.r_drop if training else 0.0
        if r_drop:
            features = twice(features)
        encoded = self.encode(features, training=training)
        hidden = self.decode(features, encoded, training=training).hidden
        targets = features["targets"]
        losses = self.paired_losses if r_drop else self.token_losses
        objective, means = loss_of_tokens(losses(hidden, targets), targets)
        loss = Loss(objective + encoded.objective, {**means, **encoded.losses})
        return r_drop_loss(loss, weight=r_drop) if r_drop else loss

    def token_log_probabilities(self, features: Features) -> Any:
        """Return (B, T) float32: the log-probability of each target token, in nats."""
        hidden = self.decode(features, self.encode(features)).hidden
        return -self.token_losses(hidden, features["targets"])["nll"]

    def token_losses(self, hidden: Any, targets: Any) -> dict[str, Any]:
        """Return the losses of `models.token_losses` for the decoder's output (B, T, D)."""
        smoothing = self.hparams.label_smoothing
        return token_losses(hidden, self.softmax.kernel, targets, label_smoothing=smoothing)

    def paired_losses(self, hidden: Any, targets: Any) -> dict[str, Any]:
        """Return the losses of `models.r_drop` for the decoder's output (2B, T, D)."""
        smoothing = self.hparams.label_smoothing
        return paired_token_losses(hidden, self.softmax.kernel, targets, label_smoothing=smoothing)

    def attention_maps(self) -> dict[str, AttentionMap]:
        """Return the meaning of the rows and columns for each name in `attention_weights`."""
        cross = tuple(layer.cross_attention.layout for layer in self.decoder_layers)
        return {
            **self.self_attention_maps(),
            "cross": AttentionMap("cross-attention", "target", "source", cross),
        }

    def self_attention_maps(self) -> dict[str, AttentionMap]:
        """Return the maps of the attentions within the source and within the target."""
        encoder = tuple(layer.self_attention.layout for layer in self.encoder_layers)
        decoder = tuple(layer.self_attention.layout for layer in self.decoder_layers)
        return {
            "encoder": AttentionMap("encoder self-attention", "source", "source", encoder),
            "decoder": AttentionMap("decoder self-attention", "target", "earlier target", decoder),
        }

    def attention_weights(self, features: Features) -> dict[str, list[Any]]:
        """Return the weights of every attention, teacher-forced, as its layer returns them.

        One array for each layer: "encoder" (B, H, S, S), "decoder" (B, H, T, T) and "cross"
        (B, H, T, S), larger where queries or memory are n-grams.
        """
        encoded = self.encode(features)
        return encoded.weights | self.decode(features, encoded).weights

    def encode(
        self, features: Features, training: bool = False, folded: Cache | None = None
    ) -> Encoded:
        """Return the encoded source: "tokens" (B, S, D) and their mask.

        Args:
            features: the features of the source.
            training: whether dropout is active.
            folded: from `fold_weights`; None: the needed weights are computed here.
        """
        del folded
        x = self._embed_source(features, training)
        mask = source_mask(features)
        places = given(positions=packed_positions(features, "source"))
        weights = []
        for layer in self.encoder_layers:
            x, self_weights = layer(x, attention_mask=mask, training=training, **places)
            weights.append(self_weights)
        return Encoded(
            memory={"tokens": self._finish_encoding(x)},
            masks={"tokens": mask},
            weights={"encoder": weights},
        )

    def source_states(self, features: Features, training: bool = False) -> Any:
        """Return the encoder's output (B, S, D)."""
        return self.encode(features, training=training).memory["tokens"]

    def _embed_source(self, features: Features, training: bool) -> Any:
        space = ops.convert_to_tensor(self.target_space.embeddings)[self.hparams.target_space_id]
        inputs = self.source_word_dropout(features["inputs"], training=training)
        x = add_bias(self.source_embedding(inputs), space)
        x = self._add_timing(x, self._positions(features, "source"))
        return self.source_dropout(x, training=training)

    def _finish_encoding(self, x: Any) -> Any:
        return x if self.encoder_norm is None else self.encoder_norm(x)

    def decode(self, features: Features, encoded: Encoded, training: bool = False) -> Decoded:
        """Return the decoder's output (B, T, D), teacher-forced with the targets.

        Args:
            features: see the class.
            encoded: from `encode`.
            training: whether dropout is active.
        """
        x = self._embed_targets(features, training)
        arguments = self._decoder_arguments(features, encoded)
        weights: dict[str, list[Any]] = {"decoder": [], "cross": []}
        for layer in self.decoder_layers:
            x, self_weights, cross_weights = layer(
                x,
                encoded.memory["tokens"],
                training=training,
                **arguments,
            )
            weights["decoder"].append(self_weights)
            weights["cross"].append(cross_weights)
        return Decoded(self._finish_decoding(x), weights)

    def _embed_targets(self, features: Features, training: bool) -> Any:
        targets = self.target_word_dropout(features["targets"], training=training)
        x = self.target_embedding(targets)
        # The output at i has read the targets before i; the first reads zeros.
        x = ops.pad(x[:, :-1], [(0, 0), (1, 0), (0, 0)])
        places = self._positions(features, "target")
        if is_packed(features):
            x = ops.where(places[..., None] > 0, x, ops.zeros((), x.dtype))
        return self.target_dropout(self._add_timing(x, places), training=training)

    def _positions(self, features: Features, side: Side) -> Any:
        """Return the positions of one side's tokens in their sentences, (S,) or (B, S) int."""
        packed = packed_positions(features, side)
        return positions(ops.shape(features[IDS[side]])[1]) if packed is None else packed

    def _decoder_arguments(self, features: Features, encoded: Encoded) -> dict[str, Any]:
        """Return the masks of decoder layers, and the positions where rows hold several pairs."""
        arguments = {
            "attention_mask": target_mask(features),
            "memory_mask": cross_mask(features, encoded.masks["tokens"]),
        }
        if is_packed(features):
            arguments["positions"] = tuple(
                packed_positions(features, side) for side in ("target", "source")
            )
        return arguments

    def _finish_decoding(self, x: Any) -> Any:
        return x if self.decoder_norm is None else self.decoder_norm(x)

    def logits(self, hidden: Any) -> Any:
        """Return float32 logits (..., V) of the decoder's output (..., D)."""
        return ops.cast(ops.matmul(hidden, self._softmax_map()), "float32")

    def _softmax_map(self) -> Any:
        return softmax_map(self.softmax.kernel, self.compute_dtype)

    def fold_weights(self) -> Cache:
        """Return the map to the vocabulary as `ops.product_layout` keeps it."""
        return {"softmax": kept(self._softmax_map())}

    def prepare_memory(self, features: Features, folded: Cache | None = None) -> Cache:
        """Return all that decoding reads of the source; see `EncoderDecoder`."""
        folded = self.fold_weights() if folded is None else folded
        encoded = self.encode(features, folded=folded)
        return {
            "mask": encoded.masks["tokens"],
            "softmax": folded["softmax"],
            "layers": self._project_memory(encoded, folded),
        }

    def _project_memory(self, encoded: Encoded, folded: Cache) -> list[Cache]:
        del folded
        return [layer.project_memory(encoded.memory["tokens"]) for layer in self.decoder_layers]

    def start_cache(self, memory: Cache, beam_size: int, length: Any) -> Cache:
        """Return the empty history of B * K outputs of at most L tokens."""
        batch_size = ops.shape(memory["mask"])[0]
        return {
            "ancestors": ops.zeros((batch_size, beam_size, length), "int32"),
            "layers": [
                layer.start_cache(batch_size, beam_size, length) for layer in self.decoder_layers
            ],
        }

    def step(self, ids: Any, index: Any, memory: Cache, cache: Cache) -> Step:
        """Decode the tokens at time `index`; see `EncoderDecoder`."""
        x, ancestors, mask = self._step_inputs(ids, index, cache)
        layers, weights = [], []
        for layer, history, projected in zip(
            self.decoder_layers, cache["layers"], memory["layers"], strict=True
        ):
            x, by_name, history = layer.step(
                x,
                history,
                index,
                projected=projected,
                attention_mask=mask,
                memory_mask=memory["mask"],
            )
            layers.append(history)
            weights.append(by_name)
        logits = product(self._finish_decoding(x), memory["softmax"])
        return Step(
            ops.cast(logits, "float32"),
            {"ancestors": ancestors, "layers": layers},
            {name: [by_name[name] for by_name in weights] for name in weights[0]},
        )

    def _step_inputs(self, ids: Any, index: Any, cache: Cache) -> tuple[Any, Any, Any]:
        """Return the input (B, K, D) of the decoder at time `index`, ancestors, and their mask."""
        own = ops.broadcast_to(
            ops.arange(ops.shape(ids)[1], dtype="int32"), ops.shape(ids)
        )  # (B, K)
        ancestors = add_block(cache["ancestors"], own[..., None], index, axis=2)
        x = self._add_timing(self.target_embedding(ids), positions_at(index, 1))
        return x, ancestors, history_mask(ancestors, index)

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Follow a change of beams: `parents` (B, K) names the beam each new one continues."""
        return {
            "ancestors": take_rows(cache["ancestors"], parents),
            "layers": [
                layer.reorder(history, parents)
                for layer, history in zip(self.decoder_layers, cache["layers"], strict=True)
            ],
        }

    def _add_timing(self, x: Any, places: Any) -> Any:
        if self.hparams.pos == "none":
            return x
        if len(places.shape) == 1:
            return x + ops.cast(timing_signal(places, self.hparams.hidden_size), x.dtype)
        table = timing_signal(positions(ops.shape(x)[1]), self.hparams.hidden_size)
        return x + ops.take(ops.cast(table, x.dtype), places, axis=0)
