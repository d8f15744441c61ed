"""The page of the sentence viewer: translations by one or more models, and what these attend to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from t2t_phrase.config import UserError
from t2t_phrase.reports.page import BOUND, fitted, render, size_text
from t2t_phrase.reports.text import LONGEST, clipped, visible

SCRIPTS = ("viewer_data.js", "viewer_map.js", "viewer_words.js", "viewer_attention.js", "viewer.js")
# The share of a page that the matrices of one sentence may take; the rest is for everything else.
_SHARE = 0.7


class ModelCard(NamedTuple):
    """The name and the description of a model.

    Attributes:
        name: short, such as the name of its run.
        about: one line, such as its checkpoint and hparams set.
    """

    name: str
    about: str


class ViewedSentence(NamedTuple):
    """A sentence of the page.

    Attributes:
        source: its text.
        explanations: of each model, from `explanation_to_json`.
        reference: a translation to compare with; "": there is none.
    """

    source: str
    explanations: Sequence[Mapping[str, Any]]
    reference: str = ""


class ViewerPage(NamedTuple):
    """The page, how many sentences it shows, and how many are left out."""

    html: str
    sentences: int
    left_out: int


def data_bound(models: int) -> int:
    """Return the `bound` of `explanation_to_json` with which a sentence fits into a page.

    Args:
        models: number of models on the page.
    """
    return int(BOUND * _SHARE / models)


def viewer_page(
    models: Sequence[ModelCard],
    sentences: Sequence[ViewedSentence],
    *,
    left_out: int = 0,
    title: str = "Sentences explained",
    template: str = "viewer.html",
    **values: Any,
) -> ViewerPage:
    """Return the page; if not all sentences fit, the last ones are left out, and it says so.

    Args:
        models: the models that translate.
        sentences: the sentences to show; may be empty if the template shows something else.
        left_out: number of sentences that are already left out.
        title: of the page.
        template: `viewer.html`, or one that extends it.
        **values: for that template.

    Raises:
        UserError: the first sentence alone is too large.
    """

    counts: list[int] = []

    def make(count: int) -> str:
        shown = sentences[:count]
        counts.append(count)
        document = {
            "models": [{"name": _text(m.name), "about": _text(m.about)} for m in models],
            "sentences": [
                {
                    "source": _text(sentence.source),
                    "reference": _text(sentence.reference),
                    "explanations": _clean(list(sentence.explanations)),
                }
                for sentence in shown
            ],
        }
        return render(
            template,
            scripts=SCRIPTS,
            title=title,
            models=models,
            sentences=shown,
            left_out=left_out + len(sentences) - count,
            document=document,
            **values,
        )

    html = fitted(make, len(sentences))
    if sentences and not counts[-1]:
        raise UserError(
            f"the first sentence alone makes a page above the limit of {size_text(BOUND)}; give a "
            "shorter one"
        )
    return ViewerPage(html, counts[-1], left_out + len(sentences) - counts[-1])


def _text(text: str) -> str:
    return clipped(visible(text), LONGEST)


def _clean(value: Any) -> Any:
    """Return JSON values with texts as pages can show them, see `reports.text`."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {key: _clean(own) for key, own in value.items()}
    return [_clean(own) for own in value] if isinstance(value, list) else value
