"""A lexical model and an alignment model, which translate together."""

from __future__ import annotations

import dataclasses
from typing import Any

import keras

from t2t_phrase.config import UserError
from t2t_phrase.features import ALIGNMENT, Feature, of_side
from t2t_phrase.layers.attention.layout import AttentionMap
from t2t_phrase.layers.luong.window import Windows
from t2t_phrase.models.base import Cache, EncoderDecoder, Features, Step
from t2t_phrase.models.capabilities import Capabilities
from t2t_phrase.models.exhibit import Exhibit
from t2t_phrase.models.members import exhibits_of_member, maps_of_member, of_member
from t2t_phrase.ops.masks import padding_mask

# Prefix of the names of the alignment model's attention maps, partitions and exhibits.
SECOND = "alignment model"


@dataclasses.dataclass(frozen=True)
class AlignedPairHParams:
    """The hyperparameters of a pair of models.

    Attributes:
        features: the source features that its models read in addition to token ids.
    """

    features: tuple[Feature, ...]


class AlignedPair(EncoderDecoder):
    """Predicts words with one model, given the source positions that another model proposes.

    Alkhouli et al. (2018), Section 3. The pair holds both models for the search of
    `decoding.search.alignment_expansion`, which alone can step them; it has neither a loss nor
    scores. It must be created from existing models, and is not registered.

    It shows the attention, partitions and exhibits of both models for a pair of sentences, given
    the alignment of the target among the features. Names from the alignment model begin with
    "alignment model/".

    Args:
        lexical: a model whose `step` takes the position of the next token, such as
            `AlignmentAssistedTransformer`.
        alignment: a model whose `step` takes the position of the last token and predicts a jump,
            such as `AlignmentModel`; with the same source and target vocabularies.

    Raises:
        UserError: one of the models is of another kind.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.aligned_pair import AlignedPair

        registry.discover()
        hparams = [registry.hparams[f"alignment_{name}_demo"]() for name in ("assisted", "model")]
        lexical, alignment = [
            registry.models[each.model].from_hparams(each, vocab_size=4000) for each in hparams
        ]
        pair = AlignedPair(lexical, alignment)
        features = {
            "inputs": np.array([[5, 6, 7, 1]]),
            "targets": np.array([[8, 9, 1]]),
            "alignment": np.array([[1, 0, 3]]),
        }
        weights = pair.attention_weights(features)
        of_first_layer = weights["cross"][0]  # (1, 4, 3, 4)
        of_alignment_model = weights["alignment model/encoder"][0]  # (1, 4, 4, 4)
        ```
    """

    capabilities = Capabilities(
        cannot_translate="a pair of models is searched with decoding.search.alignment_expansion",
        cannot_score="a pair of models has only scores of its search; score with the lexical model",
        hypothesises_positions=True,
    )

    def __init__(self, lexical: Any, alignment: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if lexical.capabilities.predicts_jumps:
            raise UserError(
                f"model {lexical.name} is an alignment model and belongs in --alignment_model_dir; "
                "--output_dir names the model that translates"
            )
        if ALIGNMENT not in lexical.hparams.features:
            raise UserError(
                f"model {lexical.name} reads no alignment and cannot use an alignment model: "
                "leave out --alignment_model_dir, or give a run of an alignment-assisted model"
            )
        if not alignment.capabilities.predicts_jumps:
            raise UserError(
                f"--alignment_model_dir: model {alignment.name} is not an alignment model; "
                "give the run folder of one"
            )
        self.lexical = lexical
        self.alignment = alignment
        found = (*lexical.hparams.features, *alignment.hparams.features)
        self.hparams = AlignedPairHParams(tuple(dict.fromkeys(of_side(found, "source"))))
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Not supported.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("the pair has no file of its own: save its models one by one")

    def weights_to_compute_with(self) -> list[tuple[keras.Variable, Any]]:
        """Return the variables of both models with their values."""
        return [
            *self.lexical.weights_to_compute_with(),
            *self.alignment.weights_to_compute_with(),
        ]

    def fold_weights(self) -> Cache:
        """Return the folded weights of each model."""
        return {
            "lexical": self.lexical.fold_weights(),
            "alignment": self.alignment.fold_weights(),
        }

    def prepare_memory(self, features: Features, folded: Cache | None = None) -> Any:
        """Return the memory of each model, and which source positions are "real", (B, S) bool."""
        parts = folded or {}
        return {
            "lexical": self.lexical.prepare_memory(features, parts.get("lexical")),
            "alignment": self.alignment.prepare_memory(features, parts.get("alignment")),
            "real": padding_mask(features["inputs"]),
        }

    def start_cache(self, memory: Any, beam_size: int, length: Any) -> Cache:
        """Return the state of each model."""
        return {
            "lexical": self.lexical.start_cache(memory["lexical"], beam_size, length),
            "alignment": self.alignment.start_cache(memory["alignment"], beam_size, length),
        }

    def token_log_probabilities(self, features: Features) -> Any:
        """Return the lexical model's values, (B, T) float32, given the alignment of the target."""
        return self.lexical.token_log_probabilities(features)

    def attention_maps(self) -> dict[str, AttentionMap]:
        """Return the attention maps of both models."""
        second = maps_of_member(SECOND, self.alignment.attention_maps())
        return {**self.lexical.attention_maps(), **second}

    def attention_weights(self, features: Features) -> dict[str, list[Any]]:
        """Return the weights of both models, given the alignment of the target."""
        return self._both(features, "attention_weights")

    def attention_windows(self, features: Features) -> dict[str, list[Windows | None]]:
        """Return the windows of both models, given the alignment of the target."""
        return self._both(features, "attention_windows")

    def partitions(self, features: Features) -> dict[str, Any]:
        """Return the partitions of both models."""
        return self._both(features, "partitions")

    def partition_classes(self, features: Features) -> dict[str, Any]:
        """Return the classes that both models predict."""
        return self._both(features, "partition_classes")

    def exhibits(self, features: Features) -> dict[str, Exhibit]:
        """Return the exhibits of both models, given the alignment of the target."""
        second = exhibits_of_member(SECOND, self.alignment.exhibits(features))
        return {**self.lexical.exhibits(features), **second}

    def _both(self, features: Features, method: str) -> dict[str, Any]:
        second = of_member(SECOND, getattr(self.alignment, method)(features))
        return {**getattr(self.lexical, method)(features), **second}

    def step(self, ids: Any, index: Any, memory: Any, cache: Cache) -> Step:
        """Not supported: there is no next token without a position.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(self.capabilities.cannot_translate)

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Follow a change of beams in both models."""
        return {
            "lexical": self.lexical.reorder(cache["lexical"], parents),
            "alignment": self.alignment.reorder(cache["alignment"], parents),
        }
