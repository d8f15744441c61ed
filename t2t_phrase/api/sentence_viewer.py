"""Pages that explain how trained models translate sentences."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from t2t_phrase.api.alignment_search import OPTIONS, Searched
from t2t_phrase.config import UserError
from t2t_phrase.features import ALIGNMENT, TAGS
from t2t_phrase.insights.explain import Explainer
from t2t_phrase.insights.explanation_json import explanation_to_json
from t2t_phrase.reports.page import BOUND
from t2t_phrase.reports.viewer import (
    ModelCard,
    ViewedSentence,
    ViewerPage,
    data_bound,
    viewer_page,
)
from t2t_phrase.runs.load_model import run_above
from t2t_phrase.runs.problem import problem_of

if TYPE_CHECKING:
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.decoding.sides import FeatureTexts
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Vocabularies

# Sentences that are translated at once.
_BATCH = 16


@dataclasses.dataclass(frozen=True)
class ExplainedModel:
    """A model on a page.

    Attributes:
        card: its name and description on the page.
        explainer: explains its translations.
    """

    card: ModelCard
    explainer: Explainer


def reads_alignments(trained: TrainedModel) -> bool:
    """Return whether a model translates with an alignment model."""
    model = trained.model
    return ALIGNMENT in model.hparams.features and not model.capabilities.predicts_jumps


def explained_model(
    trained: TrainedModel,
    vocabularies: Vocabularies,
    hparams: DecodeHParams,
    *,
    used: Searched | None = None,
    data_dir: str | None = None,
    unknown_words: Mapping[str, str] | None = None,
    xla: bool | None = None,
) -> ExplainedModel:
    """Return a trained model for `sentence_page`.

    Args:
        trained: the model, or an ensemble.
        vocabularies: its source and target vocabularies.
        hparams: the decoding options.
        used: the model with the alignment model that it is searched with; None: there is none.
        data_dir: folder of its data, for the names of labels; None: labels are shown as numbers.
        unknown_words: see `Translator`.
        xla: whether to compile the search with XLA; None: only on a GPU.
    """
    about = ", ".join(f"{m.record.hparams_set}, step {m.step}" for m in trained.members)
    model, make_expansion = trained.model, None
    if used is not None and used.second is not None:
        model, make_expansion = used.model, used.make_expansion
        about += f", with {used.second.record.hparams_set}, step {used.second.step}"
    else:
        defaults = type(hparams)()
        hparams = hparams.replace(**{name: getattr(defaults, name) for name in OPTIONS})
    labels: list[str] = []
    record = trained.members[0].record
    if data_dir and record.problem and TAGS in getattr(model.hparams, "supervision", ()):
        labels = problem_of(record).labels(data_dir, TAGS.name)
    explainer = Explainer(
        model,
        vocabularies,
        hparams,
        make_expansion=make_expansion,
        labels=labels,
        unknown_words=unknown_words,
        xla=xla,
    )
    name = " + ".join(_name(member.checkpoint) for member in trained.members)
    return ExplainedModel(ModelCard(name, about), explainer)


def _name(checkpoint: str) -> str:
    """Return a short name for a run: the name of its folder."""
    folder = pathlib.Path(checkpoint).resolve().parent
    return f"{folder.parent.name}/{folder.name}" if run_above(folder) else folder.name


def check_translations(models: Sequence[ExplainedModel], references: Sequence[str] | None) -> None:
    """Check that there are translations to explain for models that cannot translate.

    Args:
        models: of a page.
        references: translations of its sentences; None: there are none.

    Raises:
        UserError: there are none, and a model cannot translate.
    """
    for model in models:
        if not model.explainer.translates and references is None:
            reason = model.explainer.model.capabilities.cannot_translate
            raise UserError(f"{model.card.name}: {reason}; or give translations to explain")


def sentence_page(
    models: Sequence[ExplainedModel],
    sources: Sequence[str],
    references: Sequence[str] | None = None,
    *,
    texts: FeatureTexts | None = None,
    explain_references: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ViewerPage:
    """Return a page with the explanations of sentences.

    Sentences that no longer fit on the page are not translated.

    Args:
        models: one model, or several to compare side by side.
        sources: sentences, none of them empty.
        references: translations of the sources; None: there are none.
        texts: the texts of each feature that the models read, by name.
        explain_references: whether to explain the references instead of the models' own
            translations. For a model that cannot translate, they are always explained.
        progress: called with the number of sentences explained so far.

    Raises:
        UserError: there are no sentences, a model cannot translate and there are no references, or
            a feature is missing or does not fit.
    """
    if not sources:
        raise UserError("all lines are empty: there is nothing to explain")
    check_translations(models, references)
    texts = texts or {}
    found: list[ViewedSentence] = []
    size, bound = 0, data_bound(len(models))
    for start in range(0, len(sources), _BATCH):
        part = slice(start, start + _BATCH)
        targets = None if references is None else references[part]
        columns = []
        for model in models:
            forced = explain_references or not model.explainer.translates
            needed = model.explainer.needed_features(targets=forced)
            own = {each.name: texts[each.name][part] for each in needed if each.name in texts}
            explained = model.explainer.explain_all(
                sources[part], targets if forced else None, texts=own
            )
            columns.append([explanation_to_json(each, bound=bound) for each in explained])
        for place, explanations in enumerate(zip(*columns, strict=True)):
            reference = targets[place] if targets else ""
            found.append(ViewedSentence(sources[start + place], explanations, reference))
            size += sum(data_size(explanation) for explanation in explanations)
        if progress is not None:
            progress(len(found))
        if size > BOUND:
            break
    left_out = len(sources) - len(found)
    return viewer_page([model.card for model in models], found, left_out=left_out)


def data_size(explanation: Mapping[str, Any]) -> int:
    """Return the number of characters in an explanation's matrices."""
    return sum(len(layer["data"]) for one in explanation["maps"] for layer in one["layers"])
