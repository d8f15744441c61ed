"""Several models that translate together.

Shapes: B batch, T target length, V target vocabulary size, K beams.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from t2t_phrase.config import UserError
from t2t_phrase.features import Feature
from t2t_phrase.layers.attention.layout import AttentionMap
from t2t_phrase.layers.luong.window import Windows
from t2t_phrase.models.base import Cache, EncoderDecoder, Features, Loss, Step
from t2t_phrase.models.capabilities import Capabilities
from t2t_phrase.models.exhibit import Exhibit
from t2t_phrase.models.members import exhibits_of_member, layout_of_member, of_member


@dataclasses.dataclass(frozen=True)
class EnsembleHParams:
    """The hyperparameters of an ensemble.

    Attributes:
        features: the features that any of its members reads in addition to token ids.
    """

    features: tuple[Feature, ...]


class Ensemble(EncoderDecoder):
    """Models of any families, whose probabilities of the next token are averaged.

        p(y_i | y_<i, x) = sum_m w_m p_m(y_i | y_<i, x)

    with weights that sum to 1.

    An ensemble translates and scores like any model. It is not trained; its members are trained
    separately. It must be created from existing models, and is not registered.

    Its attention is that of the members, as if their layers were stacked. Shapes: M models, the
    others as in `EncoderDecoder`.

    Args:
        models: the members, all with the same source and target vocabularies.
        weights: a positive number for each model, to be divided by their sum; None: equal weights.

    Raises:
        UserError: there are no models, two of them read different features of the same name, some
            but not all predict jumps, or the weights are wrong.

    Example:
        ```python
        from t2t_phrase import registry
        from t2t_phrase.models.ensemble import Ensemble

        registry.discover()
        hparams = [registry.hparams[name]() for name in ("transformer_demo", "luong_demo")]
        members = [
            registry.models[each.model].from_hparams(each, vocab_size=4000) for each in hparams
        ]
        model = Ensemble(members, weights=[2, 1])
        features = {"inputs": np.array([[5, 6, 7, 1]]), "targets": np.array([[8, 9, 1]])}
        log_probabilities = model(features)  # (1, 3, 4000)
        ```
    """

    def __init__(
        self, models: Sequence[Any], *, weights: Sequence[float] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if not models:
            raise UserError("an ensemble needs at least one model")
        self.models = list(models)
        self.log_weights = _log_weights(weights, len(models))
        named: dict[str, Feature] = {}
        for feature in (feature for model in models for feature in model.hparams.features):
            if named.setdefault(feature.name, feature) != feature:
                raise UserError(
                    f"the models of an ensemble read different features named {feature.name}: "
                    f"{named[feature.name]} and {feature}"
                )
        self.hparams = EnsembleHParams(tuple(named.values()))
        allowed = [model.capabilities for model in models]
        if len({each.predicts_jumps for each in allowed}) > 1:
            raise UserError(
                "an alignment model predicts positions, and the other models of the ensemble "
                "words: give its folder with --alignment_model_dir, or leave it out"
            )
        reason = next(filter(None, (each.cannot_translate for each in allowed)), "")
        if reason and not allowed[0].predicts_jumps:
            reason = (
                "an ensemble cannot translate with a model that reads alignments: leave this model "
                "out, or give it alone, with --alignment_model_dir"
            )
        self.capabilities = Capabilities(
            cannot_translate=reason,
            cannot_score=next(filter(None, (each.cannot_score for each in allowed)), ""),
            predicts_jumps=allowed[0].predicts_jumps,
        )
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Not supported.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("an ensemble has no file of its own: save its models one by one")

    def call(self, features: Features, training: bool = False) -> Any:
        """Return (B, T, V) float32: logarithms of the mean probabilities."""
        logits = [model(features, training=training) for model in self.models]
        return _log_mean(logits, self.log_weights)

    def batch_loss(self, features: Features, training: bool = False) -> Loss:
        """Not supported.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("an ensemble has no loss: train its models one by one")

    def token_log_probabilities(self, features: Features) -> Any:
        """Return (B, T) float32: the log-probability of each target token, in nats."""
        found = [model.token_log_probabilities(features) for model in self.models]
        return _log_mean_exp(found, self.log_weights)

    def weights_to_compute_with(self) -> list[tuple[keras.Variable, Any]]:
        """Return the variables of all members, which may compute in different types."""
        return [pair for model in self.models for pair in model.weights_to_compute_with()]

    def fold_weights(self) -> Cache:
        """Return the folded weights of each member."""
        return {"models": [model.fold_weights() for model in self.models]}

    def shorten(self, folded: Cache, tokens: Any, allowed: Any) -> Cache:
        """Return the shortened weights of each member, and the tokens to normalise over."""
        parts = zip(self.models, folded["models"], strict=True)
        shortened = [model.shorten(part, tokens, allowed) for model, part in parts]
        return {"models": shortened, "allowed": allowed}

    def prepare_memory(self, features: Features, folded: Cache | None = None) -> Any:
        """Return the memory of each member, and the allowed tokens of a shortlist, if any."""
        folded = {"models": [None] * len(self.models)} if folded is None else folded
        parts = zip(self.models, folded["models"], strict=True)
        memory = {"models": [model.prepare_memory(features, part) for model, part in parts]}
        return memory | ({"allowed": folded["allowed"]} if "allowed" in folded else {})

    def start_cache(self, memory: Any, beam_size: int, length: Any) -> Cache:
        """Return the state of each member."""
        parts = zip(self.models, memory["models"], strict=True)
        return {"models": [model.start_cache(part, beam_size, length) for model, part in parts]}

    def step(self, ids: Any, index: Any, memory: Any, cache: Cache) -> Step:
        """Decode the tokens at time `index` with every member.

        Returns:
            logits: logarithms of the mean probabilities.
            cache: the caches of all members.
            weights: the attention weights of all members.
        """
        steps = [
            model.step(ids, index, part, state)
            for model, part, state in zip(
                self.models, memory["models"], cache["models"], strict=True
            )
        ]
        logits = [step.logits for step in steps]
        if "allowed" in memory:
            allowed = memory["allowed"][:, None]
            logits = [ops.where(allowed, x, -float("inf")) for x in logits]
        return Step(
            _log_mean(logits, self.log_weights),
            {"models": [step.cache for step in steps]},
            _stacked([step.weights for step in steps]),
        )

    def reorder(self, cache: Cache, parents: Any) -> Cache:
        """Follow a change of beams in every member."""
        parts = zip(self.models, cache["models"], strict=True)
        return {"models": [model.reorder(part, parents) for model, part in parts]}

    def attention_maps(self) -> dict[str, AttentionMap]:
        """Return the attention maps of all members."""
        found: dict[str, AttentionMap] = {}
        for number, model in enumerate(self.models):
            for name, member in model.attention_maps().items():
                layouts = tuple(layout_of_member(str(number), layout) for layout in member.layouts)
                before = found[name].layouts if name in found else ()
                found[name] = dataclasses.replace(member, layouts=before + layouts)
        return found

    def attention_weights(self, features: Features) -> dict[str, list[Any]]:
        """Return the weights of all members, teacher-forced."""
        return _stacked([model.attention_weights(features) for model in self.models])

    def partitions(self, features: Features) -> dict[str, Any]:
        """Return the partitions of all members: "x" of the second one is named "1/x"."""
        return {
            name: partition
            for number, model in enumerate(self.models)
            for name, partition in of_member(str(number), model.partitions(features)).items()
        }

    def partition_classes(self, features: Features) -> dict[str, Any]:
        """Return the classes that members predict, named like the partitions."""
        return {
            name: classes
            for number, model in enumerate(self.models)
            for name, classes in of_member(str(number), model.partition_classes(features)).items()
        }

    def attention_windows(self, features: Features) -> dict[str, list[Windows | None]]:
        """Return the windows of all members; None for layers that read everything."""
        found = [model.attention_windows(features) for model in self.models]
        return {
            name: [
                windows
                for model, own in zip(self.models, found, strict=True)
                for windows in own.get(name, _without_windows(model, name))
            ]
            for name in dict.fromkeys(name for own in found for name in own)
        }

    def exhibits(self, features: Features) -> dict[str, Exhibit]:
        """Return the exhibits of all members: "x" of the second one is named "1/x"."""
        return {
            name: exhibit
            for number, model in enumerate(self.models)
            for name, exhibit in exhibits_of_member(str(number), model.exhibits(features)).items()
        }


def _log_weights(weights: Sequence[float] | None, members: int) -> tuple[float, ...]:
    """Return the logarithm of each weight after division by their sum."""
    weights = [1.0] * members if weights is None else weights
    if len(weights) != members:
        raise UserError(
            f"an ensemble of {members} models needs {members} weights, got {len(weights)}"
        )
    for weight in weights:
        if not (math.isfinite(weight) and weight > 0):
            raise UserError(f"the weights of an ensemble must be positive numbers, got {weight:g}")
    # Not the logarithm of a ratio, since a ratio is 0 where one weight is far below another.
    largest = max(weights)
    total = math.log(sum(weight / largest for weight in weights))
    return tuple(math.log(weight) - math.log(largest) - total for weight in weights)


def _log_mean(logits: Sequence[Any], log_weights: Sequence[float]) -> Any:
    """Return (..., V): logarithms of the mean of the distributions with these logits (..., V)."""
    sizes = [x.shape[-1] for x in logits]
    if len(set(sizes)) > 1:
        raise UserError(f"the models of an ensemble need one target vocabulary, got sizes {sizes}")
    found = [x - ops.logsumexp(x, axis=-1, keepdims=True) for x in logits]
    return _log_mean_exp(found, log_weights)


def _log_mean_exp(values: Sequence[Any], log_weights: Sequence[float]) -> Any:
    weighted = [value + weight for value, weight in zip(values, log_weights, strict=True)]
    return ops.logsumexp(ops.stack(weighted), axis=0)


def _stacked(weights: Sequence[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """Return the layers of all members for each name."""
    names = dict.fromkeys(name for member in weights for name in member)
    return {name: [x for member in weights for x in member.get(name, [])] for name in names}


def _without_windows(model: Any, name: str) -> list[None]:
    maps = model.attention_maps()
    return [None] * len(maps[name].layouts) if name in maps else []
