import random

import pytest
from spoiled_text import REVEALING, SpoiledText, disguised, revealed

from t2t_phrase.config import UserError
from t2t_phrase.evaluation.by_frequency import BOUNDARIES, f1_by_frequency, word_counts

TRAINING = ["the house .", "The house, the dog .", "a cat"]
WORDS = ["the", "house", "dog", "cat", "bird", "a", ",", "."]


def test_words_are_counted_as_bleu_splits_them():
    counts = word_counts(TRAINING)
    assert counts == {"the": 2, "The": 1, "house": 2, ",": 1, "dog": 1, ".": 2, "a": 1, "cat": 1}
    assert word_counts(TRAINING, lowercase=True)["the"] == 3
    assert word_counts(TRAINING, tokenize="none")["house,"] == 1


def slow_f1(hypotheses, references, counts, low, high):
    """Return F1 by taking each right word out of the reference, one after the other."""
    right = translated = wanted = 0
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        inside = lambda word: low <= counts.get(word, 0) < high  # noqa: E731
        left = [word for word in reference.split() if inside(word)]
        wanted += len(left)
        for word in hypothesis.split():
            if inside(word):
                translated += 1
                if word in left:
                    left.remove(word)
                    right += 1
    if not translated + wanted:
        return None
    if not right:
        return 0.0
    precision, recall = right / translated, right / wanted
    return 100 * 2 * precision * recall / (precision + recall)


def test_f1_equals_a_slow_count():
    draw = random.Random(0)
    hypotheses, references = (
        [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in range(50)] for _ in range(2)
    )
    counts = {word: number for number, word in enumerate(WORDS)}
    found = f1_by_frequency(hypotheses, references, counts, boundaries=(1, 3, 20))
    assert [group.name for group in found] == ["0", "1 to 2", "3 to 19", "20 and more"]
    for group in found:
        high = 10**9 if group.high is None else group.high
        expected = slow_f1(hypotheses, references, counts, group.low, high)
        assert group.f1 == (None if expected is None else pytest.approx(expected))
    assert found[-1].f1 is None


def test_tokens_and_case_are_those_asked_for():
    text = SpoiledText(0, sentences=9)
    translated, counts = text.copy(0.3), {"a": 1, "b": 2, "-": 500}
    found = f1_by_frequency(
        disguised(translated), disguised(text.references, upper=False), counts, **REVEALING
    )
    expected = f1_by_frequency(
        revealed(translated), revealed(text.references), counts, tokenize="none"
    )
    assert found == expected and found[1].f1 > 50


def test_boundaries_must_ascend():
    with pytest.raises(UserError, match="frequencies 3,1 must be ascending"):
        f1_by_frequency(["a"], ["a"], {}, boundaries=(3, 1))
    assert list(BOUNDARIES) == sorted(BOUNDARIES)


def test_words_that_the_training_text_lacks_occur_0_times():
    unseen, seen = f1_by_frequency(["zebra a"], ["zebra a"], {"a": 1}, boundaries=[1])
    assert (unseen.name, unseen.right, seen.right) == ("0", 1, 1)
