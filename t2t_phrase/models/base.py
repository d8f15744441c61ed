"""The encoder-decoder protocol: all that translator, scorer, trainer, exporter and insights use.

Shapes: B batch, S source length, T target length, V target vocabulary size, K beams, L longest
output.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import keras
from keras import ops

from t2t_phrase import registry
from t2t_phrase.config import HParamsError, UserError
from t2t_phrase.layers.attention.layout import AttentionMap
from t2t_phrase.layers.luong.window import Windows
from t2t_phrase.models.adapters import add_lora
from t2t_phrase.models.capabilities import Capabilities
from t2t_phrase.models.exhibit import Exhibit
from t2t_phrase.ops.product import columns
from t2t_phrase.training_hparams import TrainingHParams

Features = Mapping[str, Any]
Cache = dict[str, Any]


class Mean(NamedTuple):
    """A figure as total and count, which add up over batches and replicas.

    Attributes:
        total: float32 scalar.
        count: float32 scalar; the figure is `total / count`.
    """

    total: Any
    count: Any


class Encoded(NamedTuple):
    """The encoded source. Each model chooses the names in the dictionaries.

    Attributes:
        memory: what the decoder reads, such as "tokens" (B, S, D).
        masks: where it may attend to, such as "tokens" (B, 1, 1, S) bool.
        weights: attention weights, one entry for each layer.
        losses: auxiliary losses, reported beside those of the model.
        objective: float32 scalar that the auxiliary losses add to the objective.
    """

    memory: dict[str, Any]
    masks: dict[str, Any]
    weights: dict[str, list[Any]]
    losses: dict[str, Mean] = {}  # noqa: RUF012
    objective: Any = 0.0


class Loss(NamedTuple):
    """The loss of a batch.

    Attributes:
        objective: float32 scalar, the only value with a gradient: a sum over target tokens. An
            update minimises its mean over the target tokens (or sentences, see `gradient_mean` of
            `TrainingHParams`) of all replicas.
        means: the reported figures by name. "loss" (the training loss) and "nll" (the negative
            log-probability in nats), both per target token, are always present; names that end in
            "accuracy" are shares.
    """

    objective: Any
    means: dict[str, Mean]


class Step(NamedTuple):
    """One step of decoding.

    Attributes:
        logits: (B, K, V) float32.
        cache: for the next step.
        weights: the weights of this step's attention, one entry for each layer, named as in
            `attention_weights`: "cross" (B, H, K, S). A compiled function does not compute weights
            that its caller does not use.
    """

    logits: Any
    cache: Cache
    weights: dict[str, list[Any]]


class EncoderDecoder(keras.Model):
    """Base of all translation models.

    A subclass implements `call`, `batch_loss`, `token_log_probabilities`, `prepare_memory`,
    `start_cache`, `step` and `reorder`, sets `hparams_class` and registers itself with
    `registry.models.register`; its constructor takes (hparams, vocab_size, target_vocab_size). It
    creates all variables in `build`. The other methods have defaults that suit models without
    folded weights and without attention.

    Ids are 0 at padding; sources and targets end in EOS, id 1; the decoder starts from id 0. A
    sentence's results must not depend on its padding nor on the other sentences of its batch.

    Call arguments:
        features: "inputs" (B, S) int, "targets" (B, T) int, and each of `hparams.features`, as
            long as the ids of its side. `batch_loss` is given those of `hparams.supervision`, too.
        training: whether dropout is active.

    Returns:
        (B, T, V) float32 logits; those at position i have seen the targets before i.
    """

    hparams_class: ClassVar[type[TrainingHParams]] = TrainingHParams
    capabilities: Capabilities = Capabilities()
    hparams: Any
    vocab_size: int
    target_vocab_size: int | None

    @classmethod
    def from_hparams(
        cls, hparams: Any, *, vocab_size: int, target_vocab_size: int | None = None
    ) -> EncoderDecoder:
        """Return a model whose variables all exist.

        Args:
            hparams: an instance of `hparams_class`.
            vocab_size: entries of the source vocabulary.
            target_vocab_size: entries of the target vocabulary; None: source and target share one.

        Raises:
            HParamsError: `hparams` are the options of another model, or do not fit the
                vocabularies.
        """
        name = registry.snake_case(cls.__name__)
        if type(hparams) is not cls.hparams_class:
            given = type(hparams).__name__
            fix = f"use model {hparams.model}, or another hparams set"
            if hparams.model == name:
                fix = (
                    f"each class of hyperparameters needs a `model` of its own, whose "
                    f"`hparams_class` it is: set `model` in {given}, or hparams_class = {given} in "
                    f"{cls.__name__}"
                )
            raise HParamsError(f"model {name} cannot read {given}; {fix}")
        model = cls(hparams, vocab_size, target_vocab_size, name=name)
        model.build()
        if hparams.lora_rank:
            try:
                add_lora(model, hparams.lora_rank)
            except ValueError as error:
                raise HParamsError(f"model {name}: {error}") from error
        return model

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keras.saving.register_keras_serializable(package=cls.__module__.partition(".")[0])(cls)

    def get_config(self) -> dict[str, Any]:
        """Return the hyperparameters and vocabulary sizes from which `from_config` builds."""
        return {
            "hparams": {**self.hparams.to_dict(), "dtype_policy": self.dtype_policy.name},
            "vocab_size": self.vocab_size,
            "target_vocab_size": self.target_vocab_size,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> EncoderDecoder:
        """Return the model that `get_config` describes, with new weights."""
        del custom_objects
        return cls.from_hparams(
            cls.hparams_class.from_dict(config["hparams"]),
            vocab_size=config["vocab_size"],
            target_vocab_size=config["target_vocab_size"],
        )

    def build_from_config(self, config: Any) -> None:
        """Do nothing: `from_config` has created all variables."""

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        """Return the mean objective per target token, for Keras' `fit` and `evaluate`.

        Args:
            x: the features of a batch, see the class.
            y: unused: the targets are features.
            y_pred: unused: no logits are needed for the loss.
            sample_weight: refused: every target token counts the same.
            training: whether dropout is active.

        Raises:
            UserError: there are sample weights.
        """
        del y, y_pred
        if sample_weight is not None:
            raise UserError(
                "sample_weight: every target token counts the same; to repeat sentences, repeat "
                "them in the data"
            )
        real = ops.cast(ops.not_equal(x["targets"], 0), "float32")
        return self.batch_loss(x, training=training).objective / ops.sum(real)

    def batch_loss(self, features: Features, training: bool = False) -> Loss:
        """Return the training objective and the reported figures over a batch's target tokens.

        Not called `loss`: Keras sets an attribute of that name on every model.
        """
        raise NotImplementedError

    def token_log_probabilities(self, features: Features) -> Any:
        """Return (B, T) float32: the log-probability of each target token, in nats.

        Values at padding have no meaning.
        """
        raise NotImplementedError

    def weights_to_compute_with(self) -> list[tuple[keras.Variable, Any]]:
        """Return all variables with their values, matrices in the type that layers compute with.

        Vectors stay as they are: casting them costs nothing, and layer normalisation reads its own
        in float32.
        """
        return [
            (variable, ops.cast(variable.value, self.compute_dtype))
            if len(variable.shape) > 1 and keras.backend.is_float_dtype(variable.dtype)
            else (variable, variable.value)
            for variable in self.variables
        ]

    def fold_weights(self) -> Cache:
        """Return tensors for `prepare_memory` computed from the weights alone."""
        return {}

    def shorten(self, folded: Cache, tokens: Any, allowed: Any) -> Cache:
        """Return folded weights that give the logits of some target tokens only, (B, K, N).

        Args:
            folded: from `fold_weights`.
            tokens: (N,) int32.
            allowed: (B, N) bool, the allowed tokens of each sentence, for a model that normalises
                its logits; the logits of other tokens are not read.

        Raises:
            UserError: the map to the vocabulary is not among the folded weights.
        """
        del allowed
        if "softmax" not in folded:
            raise UserError(f"{type(self).__name__} cannot be searched with a shortlist")
        return {**folded, "softmax": columns(folded["softmax"], tokens)}

    def prepare_memory(self, features: Features, folded: Cache | None = None) -> Any:
        """Return all that decoding reads of the source, which does not change from step to step.

        Args:
            features: the features of the source.
            folded: from `fold_weights`; None: computed here.
        """
        raise NotImplementedError

    def start_cache(self, memory: Any, beam_size: int, length: Any) -> Cache:
        """Return the state of the decoder before the first of L tokens, for B * K outputs.

        Args:
            memory: from `prepare_memory`; the state may start from it.
            beam_size: K.
            length: L; a number, or a scalar where a graph is traced for sources of unknown length.
        """
        raise NotImplementedError

    def step(self, ids: Any, index: Any, memory: Any, cache: Cache) -> Step:
        """Decode the tokens at time `index`.

        Args:
            ids: (B, K) int, the tokens at time `index - 1`; 0 at the start.
            index: the current time, 0 <= index < L.
            memory: from `prepare_memory`.
            cache: from `start_cache`, `step` or `reorder`.
        """
        raise NotImplementedError

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Follow a change of beams: `parents` (B, K) is the beam that each new one continues."""
        raise NotImplementedError

    def take_memory(self, memory: Any, rows: Any) -> Any:
        """Return the result that `prepare_memory` would return for some of its sentences only.

        Only a model whose `step` takes positions needs this, see `models.aligned_pair`.

        Args:
            memory: from `prepare_memory`.
            rows: (N,) int, the numbers of the sentences.
        """
        raise NotImplementedError

    def source_states(self, features: Features, training: bool = False) -> Any:
        """Return (B, S, D): the encoder's representation of each source token, for probing.

        Values at padding have no meaning. A model without this method cannot be probed.

        Args:
            features: the features of the source.
            training: whether dropout is active.
        """
        raise NotImplementedError

    def attention_maps(self) -> dict[str, AttentionMap]:
        """Return the meaning of the rows and columns for each name in `attention_weights`."""
        return {}

    def attention_weights(self, features: Features) -> dict[str, list[Any]]:
        """Return the weights of every attention, teacher-forced: for each name, a list by layer.

        The names and shapes are those of `attention_maps`.
        """
        del features
        return {}

    def attention_windows(self, features: Features) -> dict[str, list[Windows | None]]:
        """Return the windows of local attention, teacher-forced.

        The names are those of `attention_maps`, without other attention. The lists have an element
        for each layer; None: that layer reads everything.
        """
        del features
        return {}

    def partitions(self, features: Features) -> dict[str, Any]:
        """Return the partitions of the source that attention reads: (B, P, S) bool by name."""
        del features
        return {}

    def partition_classes(self, features: Features) -> dict[str, Any]:
        """Return the class that the model predicts for the label of each segment: (B, P) int.

        The classes are those of `features.TAGS`, by the name of the partition; partitions whose
        labels the model does not predict are left out.
        """
        del features
        return {}

    def exhibits(self, features: Features) -> dict[str, Exhibit]:
        """Return the matrices that the model shows beside its attention weights, teacher-forced."""
        del features
        return {}
