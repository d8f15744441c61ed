"""chrF of sentences: each is a corpus of its own."""

import pytest
from spoiled_text import SpoiledText

from t2t_phrase.evaluation.scores import corpus_score
from t2t_phrase.evaluation.sentence_scores import sentence_chrf


@pytest.mark.parametrize("lowercase", [False, True])
def test_scores_are_those_of_corpora_of_one_sentence(lowercase):
    text = SpoiledText(1, sentences=5)
    lists = [[line.upper() for line in text.references], text.copy(0.7)]
    translated = text.copy(0.3)
    found = sentence_chrf(translated, lists, lowercase=lowercase)
    expected = [
        corpus_score("chrf", [own], [[one], [other]], lowercase=lowercase).value
        for own, one, other in zip(translated, *lists, strict=True)
    ]
    assert found == pytest.approx(expected) and len(set(found)) == 5
