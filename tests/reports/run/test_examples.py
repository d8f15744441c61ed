import random

import pytest
from sacrebleu.metrics import CHRF

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.sentence_scores import sentence_chrf
from t2t_phrase.reports.run.examples import choose_examples, chosen_places

WORDS = [
    "the",
    "house",
    "is",
    "old",
    "and",
    "a",
    "cat",
    "sleeps",
    "in",
    "it",
    "while",
    "dogs",
    "run",
]


def sentences(count, seed):
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in range(count)]


def test_examples_are_the_extremes_and_the_middle():
    sources, translations, first, second = (sentences(101, seed) for seed in range(4))
    found = choose_examples(sources, translations, [first, second])
    assert len(found) == 20
    scores = [
        CHRF().sentence_score(t, [a, b]).score
        for t, a, b in zip(translations, first, second, strict=True)
    ]
    ranked = sorted(scores, reverse=True)
    by_group = {
        group: [example.chrf for example in found if example.group == group]
        for group in ("best", "median", "worst")
    }
    assert by_group["best"] == ranked[:7] and by_group["worst"] == ranked[-7:]
    # 101 sentences: the median is the one at 50, and six around it are 48 to 53.
    assert by_group["median"] == ranked[48:54] and ranked[50] in by_group["median"]
    for example in found:
        at = example.line - 1
        assert example.source == sources[at] and example.translation == translations[at]
        assert example.references == (first[at], second[at]) and example.chrf == scores[at]


@pytest.mark.parametrize("count", range(1, 45))
def test_no_sentence_is_shown_twice(count):
    places = [place for _, place in chosen_places(count)]
    assert (
        places == sorted(set(places)) and places[0] == 0 and places[-1] == count - 1
    ) or count < 3
    assert len(places) == min(count, 20)
    middle = [place for group, place in chosen_places(count) if group == "median"]
    assert min(middle) <= (count - 1) / 2 <= max(middle)


def test_lengths_must_agree():
    with pytest.raises(UserError, match="has 1 line and the reference has 2"):
        sentence_chrf(["a"], ["a", "b"])
