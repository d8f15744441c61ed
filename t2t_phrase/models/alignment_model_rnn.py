"""The recurrent alignment model: predicts the next source position with LSTMs, as a jump."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, ClassVar

from keras import ops

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.features import ALIGNMENT, Feature
from t2t_phrase.layers.recurrent.word_embedding import WordEmbedding
from t2t_phrase.models.alignment_model import AlignmentModel
from t2t_phrase.models.base import Cache, Encoded, Features, Loss, Step
from t2t_phrase.models.exhibit import Exhibit
from t2t_phrase.models.jump_exhibits import jump_exhibits
from t2t_phrase.models.jump_losses import loss_of_jumps
from t2t_phrase.models.luong import Luong
from t2t_phrase.models.luong_hparams import LuongHParams
from t2t_phrase.models.regularization_hparams import without_r_drop
from t2t_phrase.ops.hard_attention import hard_attention
from t2t_phrase.ops.jumps import CLASSES, jumps_of
from t2t_phrase.ops.product import product


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlignmentModelRnnHParams(LuongHParams):
    """The fields of `LuongHParams`. The only attention is hard, and has no fields."""

    model: ClassVar[str] = "alignment_model_rnn"
    cannot_pack: ClassVar[str] = LuongHParams.cannot_pack

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features that the model reads: the alignment of the target."""
        return (ALIGNMENT,)

    def check(self) -> Iterable[str]:
        """Yield one sentence for each fault in how the fields fit together."""
        yield from super().check()
        yield from without_r_drop(self)
        if self.attention != "none":
            yield (
                f"attention={self.attention}: an alignment model attends to aligned positions "
                "only; set attention=none"
            )


def with_recurrent_jumps(base: LuongHParams, **changes: Any) -> AlignmentModelRnnHParams:
    """Return a recurrent alignment model of the sizes and the recipe of `base`.

    Args:
        base: the fields of a model of words, whose attention is left out.
        **changes: other fields of `AlignmentModelRnnHParams`.
    """
    plain = base.replace(
        attention="none",
        attention_score="dot",
        attention_window=0,
        attention_positions=0,
        input_feeding=False,
    )
    return AlignmentModelRnnHParams(**{**vars(plain), **changes})


@registry.models.register
class AlignmentModelRnn(Luong):
    """`AlignmentModel` with LSTMs in place of self-attention.

        p(a_i - a_{i-1} | a_<i, y_<i, x) = softmax((s_i + h_{a_{i-1}}) W)

    with the states h of Luong's encoder and s of its decoder without attention, which starts from
    the last state of the encoder. Jumps and the position before the first token are those of
    `AlignmentModel`. The recurrent alignment models of Alkhouli and Ney (2017) read the encoder's
    state within the decoder; this is the form that Alkhouli et al. (2018) give in Section 3.2.

    Args:
        hparams: sizes and dropout.
        vocab_size: entries of the source vocabulary.
        target_vocab_size: entries of the target vocabulary; None: source and target share one.

    Call arguments and results are those of `AlignmentModel`.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.alignment_model_rnn import AlignmentModelRnn

        registry.discover()
        hparams = registry.hparams["alignment_model_rnn_demo"]()
        model = AlignmentModelRnn.from_hparams(hparams, vocab_size=4000)
        features = {
            "inputs": np.array([[5, 6, 7, 1]]),
            "targets": np.array([[8, 9, 1]]),
            "alignment": np.array([[1, 0, 3]]),
        }
        logits = model(features)  # (1, 3, 201)
        ```
    """

    hparams_class: ClassVar[type[LuongHParams]] = AlignmentModelRnnHParams
    capabilities = AlignmentModel.capabilities

    def _output_map(self, rows: int) -> WordEmbedding:
        del rows
        return self._embedding("jump", CLASSES)

    def batch_loss(self, features: Features, training: bool = False) -> Loss:
        """Return the cross-entropy of the jumps; see `AlignmentModel.batch_loss`."""
        classes = jumps_of(features["alignment"]).classes
        losses = self._token_losses(self._hidden(features, training), classes)
        return loss_of_jumps(losses, features)

    def token_log_probabilities(self, features: Features) -> Any:
        """Return (B, T) float32: the log-probability of the jump to each target token's position.

        It is in nats.
        """
        classes = jumps_of(features["alignment"]).classes
        return -self._token_losses(self._hidden(features), classes)["nll"]

    def exhibits(self, features: Features) -> dict[str, Exhibit]:
        """Return the probabilities of source positions and of jumps, teacher-forced."""
        return jump_exhibits(self(features), features)

    def decode(
        self, features: Features, encoded: Encoded, training: bool = False
    ) -> tuple[Any, Any]:
        """Return the sums of decoder and encoder states, (B, T, D), and no weights."""
        hidden, weights = super().decode(features, encoded, training)
        previous = jumps_of(features["alignment"]).previous
        return hidden + hard_attention(encoded.memory["tokens"], previous), weights

    def _memory_of(self, encoded: Encoded, folded: Cache) -> Cache:
        return {**super()._memory_of(encoded, folded), "tokens": encoded.memory["tokens"]}

    def step(
        self, ids: Any, index: Any, memory: Cache, cache: Cache, previous: Any | None = None
    ) -> Step:
        """Predict the jumps to the tokens at time `index`; see `AlignmentModel.step`.

        Args:
            ids: (B, K) int, the tokens at time `index - 1`; 0 at the start.
            index: the current time.
            memory: from `prepare_memory`.
            cache: from `start_cache`, `step` or `reorder`.
            previous: (B, K) int, the positions that `ids` are aligned with; `ops.jumps.BEFORE` at
                the start.

        Raises:
            UserError: `previous` is missing: an alignment model cannot translate by itself.
        """
        if previous is None:
            raise UserError(self.capabilities.cannot_translate)
        hidden, _, state = self._advance(ids, index, memory, cache)
        hidden = hidden + hard_attention(memory["tokens"], previous)
        logits = ops.cast(product(hidden, memory["softmax"]), "float32")
        return Step(logits, {"state": state}, {})
