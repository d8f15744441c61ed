"""The sentences of a comparison as data for the table of its page."""

from __future__ import annotations

from typing import Any

from t2t_phrase.evaluation.sentence_scores import sentence_chrf
from t2t_phrase.reports.comparison.differences import differing_words
from t2t_phrase.reports.comparison.inputs import ComparisonInputs
from t2t_phrase.reports.text import clipped, visible

# The most characters of one text.
LONGEST = 4000


def sentence_rows(given: ComparisonInputs) -> list[dict[str, Any]]:
    """Return an entry for each sentence, as `sentences.js` reads it.

    Returns:
        Dictionaries with "n", the sentence's number from 1; "source", None if it is not given;
        "references"; "words", their number in the source, or else in the first reference; and
        "systems", for each the "text", its "chrf", and the ranges of words that differ
        "from_reference" (the first) and "from_baseline".
    """
    scores = {
        name: sentence_chrf(lines, given.references, lowercase=given.lowercase)
        for name, lines in given.systems.items()
    }
    found = []
    for at in range(len(given.references[0])):
        source = None if given.sources is None else given.sources[at]
        references = [_shown(column[at]) for column in given.references]
        baseline = _shown(given.systems[given.baseline][at]).split()
        systems = []
        for name, lines in given.systems.items():
            text = _shown(lines[at])
            words = text.split()
            systems.append(
                {
                    "text": text,
                    "chrf": round(scores[name][at], 1),
                    "from_reference": differing_words(words, references[0].split()),
                    "from_baseline": differing_words(words, baseline),
                }
            )
        measured = given.references[0][at] if source is None else source
        found.append(
            {
                "n": at + 1,
                "words": len(measured.split()),
                "source": None if source is None else _shown(source),
                "references": references,
                "systems": systems,
            }
        )
    return found


def _shown(text: str) -> str:
    return clipped(visible(text), LONGEST)
