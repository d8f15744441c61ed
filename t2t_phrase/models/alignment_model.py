"""The alignment model: predicts the source position of the next target token, as a jump."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar

from keras import ops

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.features import ALIGNMENT, Feature
from t2t_phrase.layers.alignment.history_layer import HistoryLayer
from t2t_phrase.layers.attention.layout import AttentionMap
from t2t_phrase.layers.common.dense import Dense
from t2t_phrase.layers.common.given import given
from t2t_phrase.layers.common.initializers import kernel_initializer
from t2t_phrase.models.base import Cache, Encoded, Features, Loss, Step
from t2t_phrase.models.capabilities import Capabilities
from t2t_phrase.models.exhibit import Exhibit
from t2t_phrase.models.jump_exhibits import jump_exhibits
from t2t_phrase.models.jump_losses import loss_of_jumps
from t2t_phrase.models.packed_rows import (
    jumps_in,
    packed_positions,
    source_places,
    target_mask,
)
from t2t_phrase.models.regularization_hparams import without_r_drop
from t2t_phrase.models.token_losses import token_losses
from t2t_phrase.models.transformer import Decoded, Transformer
from t2t_phrase.models.transformer_hparams import TransformerHParams
from t2t_phrase.ops.hard_attention import hard_attention
from t2t_phrase.ops.jumps import CLASSES


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlignmentModelHParams(TransformerHParams):
    """A Transformer's fields. There is no softmax over words that could have its own matrix."""

    model: ClassVar[str] = "alignment_model"
    cannot_pack: ClassVar[str] = ""

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that the model reads: the alignment of the target."""
        return (ALIGNMENT,)

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        yield from without_r_drop(self)
        if not self.shared_embedding_and_softmax_weights:
            yield (
                "shared_embedding_and_softmax_weights=False: an alignment model has no softmax "
                "over words; use share_source_embedding=False for separate embeddings"
            )


def with_jumps(base: TransformerHParams, **changes: Any) -> AlignmentModelHParams:
    """Return an alignment model of the sizes and the recipe of `base`.

    Args:
        base: a Transformer's fields.
        **changes: other fields of `AlignmentModelHParams`.
    """
    return AlignmentModelHParams(**{**vars(base), **changes})


@registry.models.register
class AlignmentModel(Transformer):
    """Predicts the jump from one aligned source position to the next, given all that precedes it.

    Alkhouli et al. (2018), Section 3.2. The encoder is a Transformer's. The decoder has
    self-attention to the target and feed-forward networks, and a single attention to the source,
    which is hard: the encoder's output at the position that the previous token is aligned with is
    added to the decoder's output, and a linear map of the sum gives the logits of 201 jumps, from
    -100 to 100.

        p(a_i - a_{i-1} | a_<i, y_<i, x) = softmax((s_i + h_{a_{i-1}}) W)

    Before the first token there is no position, and no encoder output is added; the first jump
    starts in front of the source, see `ops.jumps`.

    Shapes: B batch, S source length, T target length, D hidden size, K beams, $J = 201$ jumps.

    Args:
        hparams: sizes and dropouts.
        vocab_size: entries of the source vocabulary.
        target_vocab_size: entries of the target vocabulary; None: source and target share one.

    Call arguments:
        features: "inputs" (B, S) int, "targets" (B, T) int and "alignment" (B, T) int, the source
            position that each target token is aligned with.
        training: whether dropout is active.

    Returns:
        (B, T, J) float32 logits of jumps; those at position i have seen the targets and the
        positions before i.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.alignment_model import AlignmentModel

        registry.discover()
        hparams = registry.hparams["alignment_model_demo"]()
        model = AlignmentModel.from_hparams(hparams, vocab_size=4000)
        features = {
            "inputs": np.array([[5, 6, 7, 1]]),
            "targets": np.array([[8, 9, 1]]),
            "alignment": np.array([[1, 0, 3]]),
        }
        logits = model(features)  # (1, 3, 201)
        ```
    """

    hparams_class = AlignmentModelHParams
    hparams: AlignmentModelHParams
    capabilities = Capabilities(
        predicts_jumps=True,
        cannot_translate="an alignment model predicts positions, not words: give the folder of "
        "its run with --alignment_model_dir, and that of an alignment-assisted model with "
        "--output_dir",
    )

    def __init__(
        self,
        hparams: AlignmentModelHParams,
        vocab_size: int,
        target_vocab_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(hparams, vocab_size, target_vocab_size, **kwargs)
        self.jump_map = Dense(
            CLASSES,
            use_bias=False,
            kernel_initializer=kernel_initializer(),
            dtype=self.dtype_policy,
            name="jump",
        )

    def make_decoder_layer(self, index: int) -> HistoryLayer:
        """Return layer `index` of the decoder."""
        parts = self.decoder_layer_parts(index)
        del parts["cross_attention"]
        return HistoryLayer(**parts)

    def build(self, input_shape: Any = None) -> None:
        """Create every variable."""
        super().build(input_shape)
        self.jump_map.build((None, None, self.hparams.hidden_size))

    def batch_loss(self, features: Features, training: bool = False) -> Loss:
        """Return the smoothed cross-entropy of the jumps, which is 0 for a perfect model.

        Besides "loss" and "nll", the result has "accuracy", the share of jumps with the highest
        probability, and "clipped", the share of jumps longer than 100, which count as 100.
        """
        encoded = self.encode(features, training=training)
        hidden = self.decode(features, encoded, training=training).hidden
        classes = jumps_in(features).classes
        return loss_of_jumps(self.token_losses(hidden, classes), features)

    def token_log_probabilities(self, features: Features) -> Any:
        """Return (B, T) float32: the log-probability of the jump to each target token's position.

        It is in nats.
        """
        hidden = self.decode(features, self.encode(features)).hidden
        return -self.token_losses(hidden, jumps_in(features).classes)["nll"]

    def token_losses(self, hidden: Any, targets: Any) -> dict[str, Any]:
        """Return the losses of `models.token_losses` for the sums (B, T, D) and jump classes."""
        kernel = ops.transpose(ops.convert_to_tensor(self.jump_map.kernel))
        smoothing = self.hparams.label_smoothing
        return token_losses(hidden, kernel, targets, label_smoothing=smoothing)

    def attention_maps(self) -> dict[str, AttentionMap]:
        """Return the meaning of the rows and columns for each name in `attention_weights`."""
        return self.self_attention_maps()

    def exhibits(self, features: Features) -> dict[str, Exhibit]:
        """Return the probabilities of source positions and of jumps, teacher-forced."""
        return jump_exhibits(self(features), features)

    def decode(self, features: Features, encoded: Encoded, training: bool = False) -> Decoded:
        """Return the sums of decoder and encoder output, (B, T, D), teacher-forced.

        Args:
            features: see the class.
            encoded: from `encode`.
            training: whether dropout is active.
        """
        x = self._embed_targets(features, training)
        mask = target_mask(features)
        places = given(positions=packed_positions(features, "target"))
        weights = []
        layers: list[Any] = self.decoder_layers
        for layer in layers:
            x, self_weights = layer(x, attention_mask=mask, training=training, **places)
            weights.append(self_weights)
        previous = source_places(features, jumps_in(features).previous)
        aligned = hard_attention(encoded.memory["tokens"], previous)
        return Decoded(self._finish_decoding(x) + aligned, {"decoder": weights})

    def logits(self, hidden: Any) -> Any:
        """Return float32 logits (..., J) of the sums (..., D)."""
        return ops.cast(self.jump_map(hidden), "float32")

    def fold_weights(self) -> Cache:
        """Return an empty dictionary: there is no map to the vocabulary."""
        return {}

    def prepare_memory(self, features: Features, folded: Cache | None = None) -> Cache:
        """Return all that decoding reads of the source; see `EncoderDecoder`."""
        encoded = self.encode(features, folded=folded)
        return {"mask": encoded.masks["tokens"], "tokens": encoded.memory["tokens"]}

    def step(
        self, ids: Any, index: Any, memory: Cache, cache: Cache, previous: Any | None = None
    ) -> Step:
        """Predict the jumps to the tokens at time `index`.

        Args:
            ids: (B, K) int, the tokens at time `index - 1`; 0 at the start.
            index: the current time, 0 <= index < L.
            memory: from `prepare_memory`.
            cache: from `start_cache`, `step` or `reorder`.
            previous: (B, K) int, the positions that `ids` are aligned with; `ops.jumps.BEFORE` at
                the start.

        Returns:
            logits (B, K, J) of jumps, and the rest as for `EncoderDecoder`.

        Raises:
            UserError: `previous` is missing: an alignment model cannot translate by itself.
        """
        if previous is None:
            raise UserError(self.capabilities.cannot_translate)
        x, ancestors, mask = self._step_inputs(ids, index, cache)
        states, weights = [], []
        layers: list[Any] = self.decoder_layers
        for layer, state in zip(layers, cache["layers"], strict=True):
            x, self_weights, state = layer.step(x, state, index, attention_mask=mask)
            states.append(state)
            weights.append(self_weights)
        hidden = self._finish_decoding(x) + hard_attention(memory["tokens"], previous)
        return Step(
            self.logits(hidden), {"ancestors": ancestors, "layers": states}, {"decoder": weights}
        )
