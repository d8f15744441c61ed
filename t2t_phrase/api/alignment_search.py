"""Translating with a second model, which proposes source positions."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.io.files import sha256_of
from t2t_phrase.io.reporting import note

if TYPE_CHECKING:
    from t2t_phrase.decoding.search.translate_ids import MakeExpansion
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Vocabularies

# The decoding options that only a search with an alignment model reads.
OPTIONS = ("alignment_threshold", "alignment_weight")


class Searched(NamedTuple):
    """A model and the expansion that searches with it.

    Attributes:
        model: a model, or an `AlignedPair`.
        make_expansion: see `Translator`.
        second: the trained alignment model; None: there is none.
    """

    model: Any
    make_expansion: MakeExpansion | None = None
    second: TrainedModel | None = None

    def forced_search(self, hparams: DecodeHParams) -> Callable[[Any], tuple[Any, Any]]:
        """Return the search for the positions of known translations, see `Scorer`."""
        from t2t_phrase.decoding.search.forced_search import forced_search

        make_expansion = self.make_expansion
        assert make_expansion is not None
        return lambda features: forced_search(self.model, features, hparams, make_expansion)

    def settings(self) -> dict[str, Any]:
        """Return the settings of the alignment model that results depend on."""
        if self.second is None:
            return {}
        checkpoint = self.second.checkpoint
        return {
            "alignment_checkpoint": f"{pathlib.Path(checkpoint).name} (step {self.second.step})",
            "alignment_weights": sha256_of(f"{checkpoint}.index")[:16],
        }


def searched(
    trained: TrainedModel,
    vocabularies: Vocabularies,
    hparams: DecodeHParams,
    alignment_model_dir: str | None = None,
    *,
    dtype_policy: str | None = None,
) -> Searched:
    """Return a model and the search that it translates with.

    Args:
        trained: the model.
        vocabularies: its source and target vocabularies.
        hparams: the decoding options.
        alignment_model_dir: run or checkpoint of its alignment model; None: there is none.
        dtype_policy: dtype policy of the alignment model; None: as in its training.

    Raises:
        UserError: the model needs an alignment model or cannot have one, the two do not belong
            together, or an option has no effect.
    """
    path = alignment_model_dir
    if not path:
        if trained.model.capabilities.cannot_translate:
            raise UserError(trained.model.capabilities.cannot_translate)
        check_search_options(hparams, path)
        return Searched(trained.model)
    from t2t_phrase.decoding.search.alignment_expansion import alignment_expansion
    from t2t_phrase.models.aligned_pair import AlignedPair
    from t2t_phrase.runs.load_model import load_model
    from t2t_phrase.runs.vocabulary import check_same_texts

    if len(trained.members) > 1:
        raise UserError(
            f"--alignment_model_dir={path}: an ensemble cannot be searched with an alignment "
            "model; name one model in --output_dir"
        )
    check_search_options(hparams, path)
    second = load_model(path, dtype_policy=dtype_policy)
    pair = AlignedPair(trained.model, second.model)
    check_same_texts(vocabularies, trained, second, f"--alignment_model_dir={path}")
    note(f"{second.checkpoint} (step {second.step}): {second.record.hparams_set}")
    return Searched(pair, functools.partial(alignment_expansion, pair), second)


def check_search_options(hparams: DecodeHParams, alignment_model_dir: str | None = None) -> None:
    """Refuse unknown searches, and options without effect with, or without, an alignment model.

    Args:
        hparams: the decoding options.
        alignment_model_dir: see `searched`.

    Raises:
        UserError: the search is unknown, or an option has no effect.
    """
    from t2t_phrase.decoding.search.translate_ids import chosen_expansion

    chosen_expansion(hparams, None)
    if not alignment_model_dir:
        for name in hparams.given(OPTIONS):
            raise UserError(
                f"{name}={getattr(hparams, name)}: is only used with --alignment_model_dir"
            )
        return
    for name in ("alignment_layers", "alignment_heads"):
        if getattr(hparams, name):
            raise UserError(
                f"{name}={list(getattr(hparams, name))}: has no effect with --alignment_model_dir, "
                "where the search decides which source position each token is aligned with"
            )
