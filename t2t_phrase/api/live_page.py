"""The page of a server: the user types one sentence, which is translated and explained."""

from __future__ import annotations

from collections.abc import Callable

from t2t_phrase.api.sentence_viewer import ExplainedModel
from t2t_phrase.config import UserError
from t2t_phrase.insights.explanation_json import explanation_to_json
from t2t_phrase.reports.viewer import ViewedSentence, data_bound, viewer_page


def live_page(model: ExplainedModel, title: str, *, longest: int) -> Callable[[str], str]:
    """Return a function from a sentence to the page that explains its translation.

    A sentence without words gives a page with only the form; one that cannot be explained gives a
    page that says why.

    Args:
        model: translates; its compiled functions are kept from sentence to sentence.
        title: title of the page.
        longest: the most characters of a sentence that can be typed.

    Raises:
        UserError: the model reads features of the source besides its words.
    """
    needed = model.explainer.needed_features(targets=False)
    if needed:
        names = ", ".join(feature.name for feature in needed)
        raise UserError(f"{title} reads {names}, which cannot be typed")

    def page(text: str) -> str:
        sentence = " ".join(text.split())
        if not sentence:
            return rendered("", [])
        try:
            explanation = explanation_to_json(
                model.explainer.explain(sentence), bound=data_bound(1)
            )
            return rendered(sentence, [ViewedSentence(sentence, [explanation])])
        except UserError as error:
            return rendered(sentence, [], str(error))

    def rendered(sentence: str, found: list[ViewedSentence], problem: str = "") -> str:
        return viewer_page(
            [model.card],
            found,
            title=title,
            template="live.html",
            submits=True,
            text=sentence,
            problem=problem,
            longest=longest,
        ).html

    return page
